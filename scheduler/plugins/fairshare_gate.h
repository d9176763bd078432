// Max-min fairness between the users of one queue at this moment, for fairshare's enqueue gate.
// Pure.
#pragma once

#include <vector>

#include "scheduler/decay.h"

namespace krater::scheduler {

struct UserDemand {
  Wide weight = 1000;  // per mille
  Wide demand = 0;     // held and wanted
  Wide share = 0;      // the result
};

// Whoever wants less than an equal part (by weight) of what is left gets that much, the others
// share the rest; rounded up, so that nobody is stopped below their share.
void share_out(Wide total, std::vector<UserDemand>& users);

}  // namespace krater::scheduler
