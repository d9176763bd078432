// Weighted max-min fairness in integers, as the proportion plugin shares a cluster out. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/resource.h"

namespace krater::scheduler {

struct Claimant {
  std::int64_t weight = 1;
  Resource request;
  Resource limit;       // realCapability
  Resource guarantee;   // at least this, whatever is asked for
  Resource deserved{};  // the result
};

// Hands out `total` by weight until everybody has what they ask for or nothing is left; nobody gets
// more than limit or request, nobody less than their guarantee. Rounds down: at most a few of the
// smallest units stay over.
void water_fill(const Resource& total, std::vector<Claimant>& claimants);

}  // namespace krater::scheduler
