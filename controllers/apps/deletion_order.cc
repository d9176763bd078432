#include "controllers/apps/deletion_order.h"

#include <algorithm>
#include <bit>

#include "model/pod_order.h"

namespace krater::controllers {
namespace {

// Ages count by their order of magnitude, so that not all of the newest, which often stand
// together, go at once.
int magnitude(WallTime since, WallTime now) {
  const std::int64_t age = (now - since).count();
  return age <= 0 ? -1 : std::bit_width(static_cast<std::uint64_t>(age)) - 1;
}

struct Order {
  const PodsByNode& related;
  WallTime now;

  std::int64_t neighbours(const AppPod& pod) const {
    const auto place = related.find(pod.node);
    return place == related.end() ? 0 : place->second;
  }

  // Newer goes before older; nothing: of the same magnitude.
  std::optional<bool> newer(WallTime a, WallTime b) const {
    if (a == b) return std::nullopt;
    const int age_a = magnitude(a, now), age_b = magnitude(b, now);
    if (age_a == age_b) return std::nullopt;
    return age_a < age_b;
  }

  bool operator()(const AppPod& a, const AppPod& b) const {
    if (a.assigned != b.assigned) return !a.assigned;
    if (phase_rank(a.phase) != phase_rank(b.phase))
      return phase_rank(a.phase) < phase_rank(b.phase);
    if (a.ready() != b.ready()) return !a.ready();
    if (a.deletion_cost != b.deletion_cost) return a.deletion_cost < b.deletion_cost;
    if (neighbours(a) != neighbours(b)) return neighbours(a) > neighbours(b);
    if (a.ready() && *a.ready_since != *b.ready_since) {
      const std::optional<bool> first = newer(*a.ready_since, *b.ready_since);
      return first ? *first : a.object->uid() < b.object->uid();
    }
    if (a.restarts != b.restarts) return a.restarts > b.restarts;
    const WallTime made_a = a.object->created().value_or(WallTime());
    const WallTime made_b = b.object->created().value_or(WallTime());
    return newer(made_a, made_b).value_or(a.object->uid() < b.object->uid());
  }
};

}  // namespace

void sort_for_deletion(std::vector<AppPod>& pods, const PodsByNode& related, WallTime now) {
  std::ranges::sort(pods, Order{related, now});
}

}  // namespace krater::controllers
