// What one pod means to its Job. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/pod.h"

namespace krater::controllers {

struct PodFact {
  ObjectPtr object;
  PodPhase phase = PodPhase::Pending;
  bool deleting = false;
  bool assigned = false;
  bool ready = false;
  bool tracked = false;  // holds the tracking finalizer: not yet counted for good
  std::optional<std::int64_t> index{};
  std::int64_t failures = 0;          // of its index before it …
  std::int64_t ignored_failures = 0;  // … and those that a policy did not count
  std::int64_t restarts = 0;
  WallTime finished{};  // best guess, as of the containers, else the deletion, else the creation

  bool ended() const { return phase == PodPhase::Succeeded || phase == PodPhase::Failed; }
  bool active() const { return !ended() && !deleting; }
  bool terminating() const { return !ended() && deleting; }
  bool succeeded() const { return phase == PodPhase::Succeeded; }
  // A pod that is being deleted will not succeed: it counts as failed at once, unless the Job
  // replaces only what has ended.
  bool failed(bool only_ended) const {
    return phase == PodPhase::Failed || (!only_ended && terminating());
  }
  const std::string& uid() const { return object->uid().text(); }
};

PodFact fact_of(const ObjectPtr& pod);

// Which of two active pods goes first when there are too many: the one that lost the least.
bool goes_before(const PodFact& a, const PodFact& b);

}  // namespace krater::controllers
