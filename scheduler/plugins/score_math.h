// The arithmetic of scores, in integers: 0 .. 100 * kPoint. Pure.
#pragma once

#include <map>

#include "scheduler/hooks.h"

namespace krater::scheduler {

// Mean over cpu and memory of the part that stays free with the pod on the node.
std::int64_t least_requested(const Resource& request, const NodeInfo& node);
// Mean over cpu and memory of the part that is requested with the pod on the node.
std::int64_t most_requested(const Resource& request, const NodeInfo& node);
// How even the use of cpu and memory is with the pod on the node: 100 minus the standard deviation
// of the parts.
std::int64_t balanced_use(const Resource& request, const NodeInfo& node);

struct BinpackWeights {
  std::int64_t weight = 1, cpu = 1, memory = 1;
  std::map<std::string, std::int64_t> others{};  // by resource name
};
// How full the node gets in the weighted dimensions that the pod asks for; 0 where it would
// overflow. `weights` by dimension; dimensions without a weight do not count.
std::int64_t binpack_score(const Resource& request, const NodeInfo& node,
                           const std::vector<std::pair<Dim, std::int64_t>>& weights,
                           std::int64_t overall);

}  // namespace krater::scheduler
