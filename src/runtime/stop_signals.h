// The signals that ask a process to end itself in good order. Built in src/cli only.
#pragma once

#include <functional>
#include <memory>

namespace krater::runtime {

class AsioLoop;

// Calls `on_stop` on the loop for SIGTERM, SIGINT and, unless it was ignored (nohup), SIGHUP: each
// time, after logging which and who sent it. One in a process, for as long as it is worth stopping:
// afterwards they are ignored, so that an impatient sender does not spoil the orderly end.
class StopSignals {
 public:
  StopSignals(AsioLoop& loop, std::function<void()> on_stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace krater::runtime
