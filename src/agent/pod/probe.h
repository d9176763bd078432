// Counts the results of one probe of one run of a container. A new run gets a new machine, so no
// failure is carried over a restart. Pure.
#pragma once

#include <optional>

#include "agent/pod/spec.h"

namespace krater::agent {

class ProbeMachine {
 public:
  explicit ProbeMachine(const ProbeSpec& spec) : spec_(spec) {}

  // The verdict when this result settles or repeats one: true after success_threshold successes in
  // a row, false after failure_threshold failures in a row (the count starts again then); nothing
  // in between.
  std::optional<bool> record(bool success) {
    if (success != last_) count_ = 0;
    last_ = success;
    ++count_;
    if (success) return count_ >= spec_.success_threshold ? std::optional(true) : std::nullopt;
    if (count_ < spec_.failure_threshold) return std::nullopt;
    count_ = 0;
    return false;
  }

 private:
  ProbeSpec spec_;
  bool last_ = false;
  int count_ = 0;
};

}  // namespace krater::agent
