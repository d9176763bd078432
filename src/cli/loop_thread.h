// A loop with its thread: made stopped, joined on destruction.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <thread>

#include "runtime/asio_loop.h"

namespace krater::cli {

class LoopThread {
 public:
  explicit LoopThread(std::string name) : name_(std::move(name)) {}
  ~LoopThread() { stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  runtime::AsioLoop& loop() { return loop_; }
  void start();
  // Any thread but its own. Idempotent.
  void stop();
  // Runs `task` on the loop and waits for it: how what lives on the loop is made and dropped from
  // outside.
  void run_and_wait(std::function<void()> task);

 private:
  std::string name_;
  runtime::AsioLoop loop_;
  std::thread thread_;
};

}  // namespace krater::cli
