// Which pods of an active job are missing and which are too many. Pure.
#pragma once

#include <vector>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

struct Place {
  const VolcanoTask* task = nullptr;
  std::int64_t index = 0;
};

struct Missing {
  std::vector<Place> places{};
  bool more = false;              // beyond what one pass makes
  std::string taken_by_others{};  // a name that a pod of somebody else holds
};

// Whether the tasks that it depends on are ready.
bool may_start(const Observed& seen, const Status& status, const VolcanoTask& task);

// Places without a pod, of tasks whose dependsOn is met.
Missing missing_pods(const Observed& seen, const Status& status);

// Pods to be removed although no action asks for it: without a place, marked as out of sync, or
// left over from before the job was restarted.
std::vector<const PodFact*> unwanted_pods(const Observed& seen);

// A restarted job waits until everything from before is gone.
bool clearing(const Observed& seen);

}  // namespace krater::controllers::vcjob
