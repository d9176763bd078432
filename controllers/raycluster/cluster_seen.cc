#include "controllers/raycluster/cluster_seen.h"

#include "controllers/ray/names.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

// A child of that name that really is ours.
ObjectPtr child(const client::Cache& cache, const Kind& kind, const Object& owner,
                const std::string& name) {
  const ObjectPtr found = cache.get(kind, owner.name_space(), name);
  return found && found->controller() != nullptr && found->controller()->uid == owner.uid()
             ? found
             : nullptr;
}

}  // namespace

ClusterSeen observe_cluster(const ObjectKey& key, const client::Cache& cache,
                            const BatchScheduler& scheduler) {
  ClusterSeen seen;
  seen.cluster = RayClusterView(cache.get(key));
  if (!seen.cluster) return seen;
  const Object& object = *seen.cluster.object();
  for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, object.uid()))
    seen.pods.emplace_back(pod);
  seen.head_service =
      child(cache, kinds::kService, object, head_service_name(object.name(), seen.cluster.spec()));
  seen.headless_service = child(cache, kinds::kService, object, object.name() + "-headless");
  seen.serve_service = child(cache, kinds::kService, object, object.name() + "-serve-svc");
  if (scheduler.gang_kind() != nullptr) {
    seen.pod_group = child(cache, *scheduler.gang_kind(), object, scheduler.gang_name(object));
  }
  seen.pods_at = cache.seen(kinds::kPod).number();
  seen.pod_exists = [&cache, name_space = object.name_space()](const std::string& name) {
    return cache.get(kinds::kPod, name_space, name) != nullptr;
  };
  seen.runtime_class = [&cache](const std::string& name) {
    return cache.get(kRuntimeClassKind, "", name);
  };
  return seen;
}

bool is_head_pod(const PodView& pod) {
  return pod->label(ray_keys::kNodeType) == ray_keys::kHead;
}

bool is_unhealthy(const PodView& pod) {
  if (pod.finished()) return true;
  if (pod.phase() != PodPhase::Running || pod.restart_policy() != "Never" ||
      pod.containers().empty())
    return false;
  const std::string ray = text_at(pod.containers().front(), {"name"});
  for (const ContainerStatus& status : pod.container_statuses()) {
    if (status.name == ray) return status.state == ContainerStatus::State::Terminated;
  }
  return false;
}

bool is_up(const PodView& pod) {
  if (pod.phase() != PodPhase::Running) return false;
  const auto ready = pod.condition("Ready");
  return !ready || ready->is_true();
}

}  // namespace krater::controllers
