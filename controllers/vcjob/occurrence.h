// Things that happen to a job, and what its policies make of them. Pure.
//
// Most of what Volcano treats as an event can be seen as long as nothing has been done about it: a
// failed pod stays failed, a completed task completed. Those are found again in every pass
// (standing_occurrences), so none is lost over a restart, and an action ends them because it gives
// the job a new version or marks the pods as out of sync. What leaves no trace (a pod that is gone,
// a PodGroup that has become Unknown, an order that has been taken) is kept by the controller until
// the job's status shows that it was acted on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// What an action changes in the status: when it has moved, the action is under way.
struct StatusMark {
  std::int64_t version = 0, retry_count = 0;
  std::optional<VolcanoJobPhase> phase{};
  friend bool operator==(const StatusMark&, const StatusMark&) = default;
};
StatusMark mark_of(const Status& status);

struct Occurrence {
  VolcanoEvent event = VolcanoEvent::OutOfSync;
  std::string task, pod, partition;  // "" when it is about the whole job
  Uid pod_uid, job_uid;
  std::int64_t version = 0;
  std::vector<std::int64_t> exit_codes{};  // of a pod that failed: any of them may be meant
  bool by_scheduler = false;               // an eviction that costs no retry
  std::optional<WallTime> since{};         // delays run from here
  std::optional<VolcanoAction> ordered{};  // by a Command
  std::optional<StatusMark> tried{};       // acted on when the status was so

  std::string text() const;  // for people: "PodFailed of pod a-w-0, exit code 3"
};

// What can be seen to have happened and has not been acted on.
std::vector<Occurrence> standing_occurrences(const Observed& seen);

struct Answer {
  VolcanoAction action = VolcanoAction::SyncJob;
  Duration delay{};
};
// The first policy that fits: those of the pod's task, then those of the job.
Answer answer_to(const Occurrence& occurrence, const Observed& seen);

}  // namespace krater::controllers::vcjob
