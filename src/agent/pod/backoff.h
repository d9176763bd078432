// The crash-loop delay of one container, as a kubelet keeps it: the first restart is immediate, the
// next ones wait 10 s, 20 s, ... up to 5 min after the exit, and ten quiet minutes forget it all.
// Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace krater::agent {

class Backoff {
 public:
  // When the container that ended at `exited` may start again; `exited` itself when there is no
  // delay.
  WallTime ready_at(WallTime exited) const { return forgotten(exited) ? exited : exited + delay_; }
  Duration delay() const { return delay_; }
  // A restart happens now, after an exit at `exited`.
  void step(WallTime exited, WallTime now) {
    delay_ = forgotten(exited) ? kFirst : std::min(delay_ * 2, kLimit);
    updated_ = now;
  }

 private:
  static constexpr Duration kFirst = std::chrono::seconds(10);
  static constexpr Duration kLimit = std::chrono::minutes(5);
  bool forgotten(WallTime exited) const { return !updated_ || exited - *updated_ > 2 * kLimit; }

  Duration delay_{};
  std::optional<WallTime> updated_;
};

}  // namespace krater::agent
