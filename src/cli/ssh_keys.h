// Makes SSH keys beside the control loop: one thread, started by the first wish, joined at the end.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/env.h"
#include "runtime/ssh_key.h"

namespace krater::cli {

class SshKeys {
 public:
  using Done = std::function<void(runtime::SshKeyPair)>;

  // `loop` is where answers arrive; it outlives this.
  explicit SshKeys(Loop& loop) : loop_(loop) {}
  ~SshKeys();
  SshKeys(const SshKeys&) = delete;
  SshKeys& operator=(const SshKeys&) = delete;

  // Loop thread. As long as no key can be made, that is logged and tried again.
  void make(Done done);

 private:
  void work();

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Done> wishes_;  // guarded by mutex_
  bool stopped_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace krater::cli
