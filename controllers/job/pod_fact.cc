#include "controllers/job/pod_fact.h"

#include <algorithm>

#include "base/strings.h"
#include "model/pod_order.h"

namespace krater::controllers {
namespace {

std::optional<std::int64_t> natural(std::string_view text) {
  const auto number = parse_int(text);
  return number && *number >= 0 ? number : std::nullopt;
}

WallTime finish_time(const PodView& pod, const std::vector<ContainerStatus>& containers) {
  std::optional<WallTime> latest;
  bool all_ended = !containers.empty();
  for (const ContainerStatus& container : containers) {
    all_ended = all_ended && container.exit && container.exit->finished;
    if (all_ended) latest = std::max(latest.value_or(WallTime()), *container.exit->finished);
  }
  if (all_ended) return *latest;
  const auto ready = pod.condition("Ready");
  if (ready && !ready->is_true() && ready->last_transition) return *ready->last_transition;
  if (pod->deletion()) return *pod->deletion();
  return pod->created().value_or(WallTime());
}

}  // namespace

PodFact fact_of(const ObjectPtr& object) {
  const PodView pod(object);
  PodFact out;
  out.object = object;
  out.phase = pod.phase();
  out.deleting = pod.deleting();
  out.assigned = !pod.node_name().empty();
  out.ready = pod.ready();
  out.tracked = std::ranges::count(object->finalizers(), keys::kJobTracking) > 0;
  out.index = natural(pod.annotation(keys::kJobCompletionIndex));
  out.failures = natural(pod.annotation(keys::kJobIndexFailures)).value_or(0);
  out.ignored_failures = natural(pod.annotation(keys::kJobIndexIgnoredFailures)).value_or(0);
  const std::vector<ContainerStatus> containers = pod.container_statuses();
  for (const ContainerStatus& container : containers) out.restarts += container.restarts;
  for (const ContainerStatus& container : pod.init_container_statuses()) {
    out.restarts += container.restarts;
  }
  out.finished = finish_time(pod, containers);
  return out;
}

bool goes_before(const PodFact& a, const PodFact& b) {
  if (a.assigned != b.assigned) return !a.assigned;
  if (phase_rank(a.phase) != phase_rank(b.phase)) return phase_rank(a.phase) < phase_rank(b.phase);
  if (a.ready != b.ready) return !a.ready;
  if (a.object->created() != b.object->created()) return a.object->created() > b.object->created();
  return a.object->name() > b.object->name();
}

}  // namespace krater::controllers
