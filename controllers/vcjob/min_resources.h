// What a job's gang must find free, counted as quotas count it. Pure.
#pragma once

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// The requests of the pods that must run at once, of tasks with the higher priority first: cpu,
// memory, …, and beside them what quotas know ("requests.cpu", "limits.cpu", "pods", "count/pods").
Json min_resources(const Observed& seen);

}  // namespace krater::controllers::vcjob
