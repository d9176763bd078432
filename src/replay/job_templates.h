// The pods that a Job's controller would make of it, and the PodGroup. Pure.
#pragma once

#include <functional>
#include <string>

#include "replay/workload.h"

namespace krater::replay {

// How long a pod runs.
using RunOf = std::function<std::optional<Duration>(const Json& pod)>;

// Of Volcano: made when the group has been admitted, every task's replicas. No time is set.
Submission from_volcano_job(const Json& job, const std::string& name_space, const RunOf& run_of);
// Of batch/v1: as many pods as may run at once; each does its part of the completions, one after
// another.
Submission from_batch_job(const Json& job, const std::string& name_space, const RunOf& run_of);

}  // namespace krater::replay
