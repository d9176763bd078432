#include "controllers/apps/app_pod.h"

#include <algorithm>

#include "base/strings.h"
#include "model/workload.h"

namespace krater::controllers {

bool AppPod::available(std::int64_t min_ready_s, WallTime now) const {
  return ready() && *ready_since + std::chrono::seconds(min_ready_s) <= now;
}

AppPod app_pod_of(const ObjectPtr& object) {
  const PodView pod(object);
  AppPod out;
  out.object = object;
  out.phase = pod.phase();
  out.deleting = pod.deleting();
  out.node = pod.node_name().text();
  out.assigned = !out.node.empty();
  if (const auto ready = pod.condition("Ready"); ready && ready->is_true()) {
    out.ready_since = ready->last_transition.value_or(object->created().value_or(WallTime()));
  }
  for (const ContainerStatus& container : pod.container_statuses())
    out.restarts = std::max(out.restarts, container.restarts);
  out.deletion_cost = parse_int(pod.annotation(keys::kPodDeletionCost)).value_or(0);
  return out;
}

std::optional<Duration> until_available(const std::vector<AppPod>& pods, std::int64_t min_ready_s,
                                        WallTime now) {
  std::optional<Duration> out;
  for (const AppPod& pod : pods) {
    if (!pod.active() || !pod.ready() || pod.available(min_ready_s, now)) continue;
    const Duration left = *pod.ready_since + std::chrono::seconds(min_ready_s) - now;
    out = std::min(out.value_or(left), left);
  }
  return out;
}

}  // namespace krater::controllers
