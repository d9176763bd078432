#include "controllers/ray/names.h"
#include "controllers/rayjob/job_seen.h"
#include "model/pod.h"
#include "model/ray_keys.h"
#include "model/selector.h"

namespace krater::controllers {
namespace {

ObjectPtr controlled(ObjectPtr object, const Uid& owner) {
  return object && object->controller() != nullptr && object->controller()->uid == owner ? object
                                                                                         : nullptr;
}

bool any_pod_of(const client::Cache& cache, const std::string& name_space,
                const std::string& cluster) {
  for (const ObjectPtr& pod : cache.list(kinds::kPod, name_space)) {
    if (pod->label(ray_keys::kCluster) == cluster) return true;
  }
  return false;
}

// The number behind a service port's targetPort on this pod.
std::optional<std::int64_t> target_port(const Json& port, const PodView& pod) {
  if (const auto number = int_at(port, {"targetPort"}); number && *number != 0) return number;
  const std::string name = text_at(port, {"targetPort"});
  if (name.empty()) return int_at(port, {"port"});
  for (const Json& container : pod.containers()) {
    const JsonArray* ports = array_at(container, {"ports"});
    if (ports == nullptr) continue;
    for (const Json& entry : *ports) {
      if (string_at(entry, {"name"}) == name) return int_at(entry, {"containerPort"});
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> resolve_by_pods(const client::Cache& cache, std::string_view name_space,
                                           std::string_view service, std::string_view port_name) {
  const ObjectPtr found = cache.get(kinds::kService, name_space, service);
  if (!found) return std::nullopt;
  const auto document = found->document();
  const Labels selector = string_map(find(*document, {"spec", "selector"}));
  const JsonArray* ports = array_at(*document, {"spec", "ports"});
  if (selector.empty() || ports == nullptr) return std::nullopt;
  const LabelSelector selects = LabelSelector::equals(selector);
  const bool unready_too = bool_at(*document, {"spec", "publishNotReadyAddresses"}).value_or(false);
  for (const ObjectPtr& object : cache.list(kinds::kPod, name_space)) {
    if (!selects.matches(object->labels())) continue;
    const PodView pod(object);
    if (pod.phase() != PodPhase::Running || pod.deleting() || pod.pod_ip().empty()) continue;
    if (!unready_too && !pod.ready()) continue;
    for (const Json& port : *ports) {
      if (string_at(port, {"name"}) != port_name) continue;
      const auto number = target_port(port, pod);
      if (!number) continue;
      const std::string ip = pod.pod_ip();
      const bool v6 = ip.find(':') != std::string::npos;
      return (v6 ? "[" + ip + "]" : ip) + ":" + std::to_string(*number);
    }
  }
  return std::nullopt;
}

bool JobSeen::submitter_is_ours() const {
  return submitter && submitter->controller() != nullptr &&
         submitter->controller()->uid == job->uid();
}

JobSeen observe_job(const ObjectKey& key, const client::Cache& cache, const JobRules& rules,
                    const ServiceResolver& resolve) {
  JobSeen seen;
  seen.job = RayJobView(cache.get(key));
  if (!seen.job) return seen;
  const Object& object = *seen.job.object();
  const std::string& name_space = object.name_space();
  seen.status = seen.job.status();
  seen.runtime_class = [&cache](const std::string& name) {
    return cache.get(kRuntimeClassKind, "", name);
  };
  seen.submitter = cache.get(kinds::kJob, name_space, object.name());
  seen.head_service =
      controlled(cache.get(kinds::kService, name_space, object.name() + "-head-svc"), object.uid());
  if (rules.scheduler.gang_kind() != nullptr) {
    seen.pod_group = controlled(
        cache.get(*rules.scheduler.gang_kind(), name_space, rules.scheduler.gang_name(object)),
        object.uid());
  }
  const std::string& cluster = seen.status.cluster_name;
  if (cluster.empty()) return seen;
  const bool stopping =
      seen.status.phase == JobPhase::Suspending || seen.status.phase == JobPhase::Retrying;
  seen.cluster_pods_left = stopping && any_pod_of(cache, name_space, cluster);
  seen.cluster = RayClusterView(cache.get(kinds::kRayCluster, name_space, cluster));
  if (!seen.cluster) return seen;
  const std::string service = head_service_name(cluster, seen.cluster.spec());
  seen.cluster_head_service = cache.get(kinds::kService, name_space, service);
  if (!seen.status.dashboard_url.empty())
    seen.dashboard_address = resolve(cache, name_space, service, "dashboard");
  return seen;
}

}  // namespace krater::controllers
