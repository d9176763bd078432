#include "scheduler/plugins/score_math.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

constexpr std::int64_t kFull = 100 * kPoint;

// Of one dimension with the pod on the node, 0..100, rounded down as everything of kube-scheduler's.
// More than there is counts as full.
struct Points {
  std::int64_t used = 100, free = 0;
};
Points points(const Resource& request, const NodeInfo& node, Dim dim) {
  const std::int64_t all = node.spec->allocatable.at(dim);
  const std::int64_t wanted = std::max<std::int64_t>(node.used.at(dim) + request.at(dim), 0);
  if (all <= 0 || wanted > all) return {};
  return {scale(100, wanted, all), scale(100, all - wanted, all)};
}

// The same, not rounded, 0..kFull.
std::int64_t part(const Resource& request, const NodeInfo& node, Dim dim) {
  const std::int64_t all = node.spec->allocatable.at(dim);
  if (all <= 0) return kFull;
  const std::int64_t wanted = std::max<std::int64_t>(node.used.at(dim) + request.at(dim), 0);
  return std::min(scale(kFull, wanted, all), kFull);
}

}  // namespace

std::int64_t least_requested(const Resource& request, const NodeInfo& node) {
  return (points(request, node, kCpu).free + points(request, node, kMemory).free) / 2 * kPoint;
}

std::int64_t most_requested(const Resource& request, const NodeInfo& node) {
  return (points(request, node, kCpu).used + points(request, node, kMemory).used) / 2 * kPoint;
}

std::int64_t balanced_use(const Resource& request, const NodeInfo& node) {
  // Of two values the standard deviation is half their difference.
  const std::int64_t difference = part(request, node, kCpu) - part(request, node, kMemory);
  return (kFull - (difference < 0 ? -difference : difference) / 2) / kPoint * kPoint;
}

std::int64_t binpack_score(const Resource& request, const NodeInfo& node,
                           const std::vector<std::pair<Dim, std::int64_t>>& weights,
                           std::int64_t overall) {
  std::int64_t sum = 0, weight_sum = 0;
  for (const auto& [dim, weight] : weights) {
    if (request.at(dim) <= 0) continue;
    const std::int64_t all = node.spec->allocatable.at(dim);
    const std::int64_t wanted = node.used.at(dim) + request.at(dim);
    if (wanted > all) return 0;
    weight_sum += weight;
    if (all > 0) sum += weight * scale(kFull, wanted, all);
  }
  return weight_sum <= 0 ? 0 : overall * (sum / weight_sum);
}

}  // namespace krater::scheduler
