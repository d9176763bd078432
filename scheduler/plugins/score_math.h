// The arithmetic of scores, in integers: 0 .. 100 * kPoint. Pure.
#pragma once

#include <map>
#include <optional>

#include "scheduler/hooks.h"

namespace krater::scheduler {

// Mean over cpu and memory of the part that stays free with the pod on the node.
std::int64_t least_requested(const Resource& request, const NodeInfo& node);
// Mean over cpu and memory of the part that is requested with the pod on the node.
std::int64_t most_requested(const Resource& request, const NodeInfo& node);
// How much more even the use of cpu, memory and what the pod asks for of `more` gets by the pod
// (kube-scheduler 1.36's NodeResourcesBalancedAllocation): 75 when it makes no difference, towards
// 100 when it evens out, towards 50 when it does the opposite; 0 for a pod that asks for none of
// them.
std::int64_t balanced_use(const Resource& request, const NodeInfo& node, std::optional<Dim> more);

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
