// How long a failed pod's replacement waits: 10 s, doubled with each failure in a row, up to 6
// minutes, counted from the last failure. Read from the pods that are there, so a restart forgets
// nothing. Pods deleted from outside are replaced at once (Kubernetes waits there too): they did
// not fail by themselves. Pure.
#pragma once

#include <vector>

#include "controllers/job/pod_fact.h"

namespace krater::controllers {

Duration backoff_after(std::int64_t failures_in_a_row);

// Left to wait for a Job whose failures count together; 0 when none.
Duration backoff_left(const std::vector<PodFact>& pods, WallTime now);

// Left to wait for the index whose last failed pod this is.
Duration backoff_left(const PodFact& last_failed, WallTime now);

}  // namespace krater::controllers
