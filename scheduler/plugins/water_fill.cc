#include "scheduler/plugins/water_fill.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

// Who weighs less than nothing weighs nothing.
std::int64_t weight_of(const Claimant& claimant) {
  return std::max<std::int64_t>(claimant.weight, 0);
}

Resource next_level(const Claimant& claimant, const Resource& remaining, std::int64_t weights) {
  Resource out;
  const Dim dims =
      std::max({claimant.deserved.dims(), remaining.dims(), claimant.guarantee.dims()});
  for (Dim d = 0; d < dims; ++d) {
    std::int64_t level =
        claimant.deserved.at(d) + scale(remaining.at(d), weight_of(claimant), weights);
    level = std::min({level, claimant.limit.at(d), claimant.request.at(d)});
    out.set(d, std::max(level, claimant.guarantee.at(d)));
  }
  return out;
}

// Whether more of what remains would be of no use. A share that rounds down to nothing is not yet
// all that one can have.
bool is_full(const Claimant& claimant, const Resource& level, const Resource& remaining) {
  for (Dim d = 0; d < remaining.dims(); ++d) {
    if (remaining.at(d) > 0 && level.at(d) < std::min(claimant.limit.at(d), claimant.request.at(d)))
      return false;
  }
  return true;
}

}  // namespace

void water_fill(const Resource& total, std::vector<Claimant>& claimants) {
  Resource remaining = total;
  std::vector<bool> met(claimants.size(), false);
  while (!remaining.is_zero()) {
    std::int64_t weights = 0;
    for (std::size_t i = 0; i < claimants.size(); ++i)
      weights += met[i] ? 0 : weight_of(claimants[i]);
    if (weights <= 0) return;
    const Resource before = remaining;
    for (std::size_t i = 0; i < claimants.size(); ++i) {
      if (met[i]) continue;
      Claimant& one = claimants[i];
      Resource level = next_level(one, before, weights);
      met[i] = one.request.fits_in(level) || is_full(one, level, before);
      remaining -= level - one.deserved;
      one.deserved = std::move(level);
    }
    remaining = remaining.clamped();
    if (remaining == before) return;
  }
}

}  // namespace krater::scheduler
