#include "scheduler/plugins/score_math.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

constexpr std::int64_t kFull = 100 * kPoint;

// Of one dimension with the pod on the node, 0..100, rounded down as everything of
// kube-scheduler's. More than there is counts as full.
struct Points {
  std::int64_t used = 100, free = 0;
};
Points points(const Resource& request, const NodeInfo& node, Dim dim) {
  const std::int64_t all = node.spec->allocatable.at(dim);
  const std::int64_t wanted = std::max<std::int64_t>(node.used.at(dim) + request.at(dim), 0);
  if (all <= 0 || wanted > all) return {};
  return {scale(100, wanted, all), scale(100, all - wanted, all)};
}

// One of which there is all.
constexpr std::int64_t kWhole = 1'000'000'000;

std::int64_t square_root(std::int64_t square) {
  std::int64_t low = 0, high = kWhole;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (middle * middle <= square)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// 100 less the standard deviation of the parts in use, rounded down.
std::int64_t evenness(const Resource& used, const Resource& all, const std::vector<Dim>& dims) {
  std::vector<std::int64_t> parts;
  for (const Dim d : dims) {
    if (all.at(d) <= 0) continue;
    const std::int64_t in_use = std::clamp<std::int64_t>(used.at(d), 0, all.at(d));
    parts.push_back(scale(kWhole, in_use, all.at(d)));
  }
  std::int64_t deviation = 0;
  if (parts.size() == 2) {
    deviation = std::max(parts[0] - parts[1], parts[1] - parts[0]) / 2;
  } else if (parts.size() > 2) {
    const auto count = static_cast<std::int64_t>(parts.size());
    std::int64_t sum = 0, squares = 0;
    for (const std::int64_t part : parts) sum += part;
    for (const std::int64_t part : parts) squares += (part - sum / count) * (part - sum / count);
    deviation = square_root(squares / count);
  }
  return scale(100, kWhole - deviation, kWhole);
}

}  // namespace

std::int64_t least_requested(const Resource& request, const NodeInfo& node) {
  return (points(request, node, kCpu).free + points(request, node, kMemory).free) / 2 * kPoint;
}

std::int64_t most_requested(const Resource& request, const NodeInfo& node) {
  return (points(request, node, kCpu).used + points(request, node, kMemory).used) / 2 * kPoint;
}

std::int64_t balanced_use(const Resource& request, const NodeInfo& node, std::optional<Dim> more) {
  std::vector<Dim> dims{kCpu, kMemory};
  if (more && request.at(*more) > 0) dims.push_back(*more);
  if (std::all_of(dims.begin(), dims.end(), [&](Dim d) { return request.at(d) <= 0; })) return 0;
  const Resource& all = node.spec->allocatable;
  const std::int64_t gain =
      evenness(node.used + request, all, dims) - evenness(node.used, all, dims);
  return (50 + (50 + gain) / 2) * kPoint;
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
