// Counting the pods of a Volcano Job. Pure.
#pragma once

#include <set>
#include <string>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// `leaving`: names of pods that are being removed by this pass; they count as terminating. A pod
// that has succeeded counts as such until it is gone, and by `status` afterwards.
Counts count(const Observed& seen, const Status& status, const std::set<std::string>& leaving);

}  // namespace krater::controllers::vcjob
