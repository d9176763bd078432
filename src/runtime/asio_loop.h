// Loop over an Asio io_context: one thread calls run(), everything posted runs there.
#pragma once

#include <memory>

#include "base/env.h"

namespace boost::asio {
class io_context;
}

namespace krater::runtime {

class AsioLoop final : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;

  // Runs on the calling thread until stop(). An exception that reaches the loop is logged and ends
  // the process: it is a broken invariant of ours.
  void run();
  // Any thread. What is queued behind it does not run.
  void stop();

  void post(Task task) override;
  TimerId after(Duration delay, Task task) override;
  void cancel(TimerId timer) override;
  SteadyTime now() const override;
  bool on_loop_thread() const override;

  // For the adapters of this folder.
  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krater::runtime
