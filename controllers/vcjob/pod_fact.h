// What the controller of Volcano Jobs needs to know of a pod, read once a revision. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/pod.h"
#include "model/volcano_job.h"

namespace krater::controllers::vcjob {

struct PodFact {
  ObjectPtr object;
  std::string task, partition;  // "" without partitions
  std::int64_t index = -1;      // in its task
  std::int64_t version = 0;     // of the job when it was made
  PodPhase phase = PodPhase::Pending;
  bool deleting = false;
  bool cut_short = false;                  // it ended because it was being deleted
  bool out_of_sync = false;                // its controller removes it
  bool ready = false;                      // of a running pod: every container
  bool by_scheduler = false;               // DisruptionTarget: whoever schedules took it away
  std::vector<std::int64_t> exit_codes{};  // of containers that failed, init containers last
  std::int64_t restarts = 0;               // of all containers
  WallTime since{};  // created; of an ended pod, when the last container ended

  const std::string& name() const { return object->name(); }
  bool succeeded() const { return phase == PodPhase::Succeeded && !cut_short; }
  bool finished() const { return phase == PodPhase::Succeeded || phase == PodPhase::Failed; }
  // Of the same pod, whatever else of it has changed.
  bool says_the_same(const PodFact& other) const;
};

PodFact fact_of(const ObjectPtr& pod);

// The owner reference to a Volcano Job that controls this object, or nullptr.
const OwnerReference* owning_volcano_job(const Object& object);

}  // namespace krater::controllers::vcjob
