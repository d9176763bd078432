#include "controllers/raycluster/status.h"

#include <algorithm>
#include <limits>

#include "controllers/ray/start_params.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kHeadReady = "HeadPodReady";
constexpr std::string_view kProvisioned = "RayClusterProvisioned";
constexpr std::string_view kReplicaFailure = "ReplicaFailure";
constexpr std::string_view kSuspending = "RayClusterSuspending";
constexpr std::string_view kSuspended = "RayClusterSuspended";

std::vector<PodView> living(const std::vector<PodView>& pods) {
  std::vector<PodView> out;
  std::ranges::copy_if(pods, std::back_inserter(out),
                       [](const PodView& pod) { return !pod.deleting(); });
  return out;
}

// The head that counts: one that has not ended, if there is one.
const PodView* head_of(const std::vector<PodView>& pods) {
  const PodView* found = nullptr;
  for (const PodView& pod : pods) {
    if (is_head_pod(pod) && (found == nullptr || is_unhealthy(*found))) found = &pod;
  }
  return found;
}

void count_workers(const ClusterSeen& seen, const std::vector<PodView>& pods,
                   RayClusterStatus& out) {
  const RayClusterSpec spec = seen.cluster.spec();
  out.desired_workers = spec.desired_workers();
  out.min_workers = out.max_workers = 0;
  for (const RayGroupSpec& group : spec.workers()) {
    if (group.suspended()) continue;
    out.min_workers += group.min_replicas().value_or(0) * group.hosts();
    out.max_workers +=
        group.max_replicas().value_or(std::numeric_limits<std::int32_t>::max()) * group.hosts();
  }
  out.max_workers =
      std::min<std::int64_t>(out.max_workers, std::numeric_limits<std::int32_t>::max());
  out.ready_workers = out.available_workers = 0;
  for (const PodView& pod : pods) {
    if (is_head_pod(pod) || pod.phase() != PodPhase::Running) continue;
    ++out.available_workers;
    if (pod.ready()) ++out.ready_workers;
  }
}

// Containers only, request before limit: what KubeRay's columns show.
ResourceList template_amounts(const RayGroupSpec& group) {
  ResourceList out;
  for (const Json& container : group.containers()) {
    ResourceList amounts = ResourceList::from(find(container, {"resources", "limits"}));
    const ResourceList requests = ResourceList::from(find(container, {"resources", "requests"}));
    for (const auto& [name, amount] : requests.amounts()) amounts.set(name, amount);
    out += amounts;
  }
  return out;
}

void sum_desired(const RayClusterSpec& spec, RayClusterStatus& out) {
  ResourceList sum = template_amounts(spec.head());
  for (const RayGroupSpec& group : spec.workers()) {
    if (const std::int64_t pods = group.desired_pods(); pods > 0)
      sum += template_amounts(group).times(pods);
  }
  std::int64_t gpus = 0;
  for (const auto& [name, amount] : sum.amounts()) gpus += is_gpu_resource(name) ? amount : 0;
  out.desired_cpu = resource_text(resources::kCpu, sum.at(resources::kCpu));
  out.desired_memory = resource_text(resources::kMemory, sum.at(resources::kMemory));
  out.desired_gpu = resource_text("gpu", gpus);
  out.desired_tpu = resource_text("google.com/tpu", sum.at("google.com/tpu"));
}

void describe_head(const ClusterSeen& seen, const PodView* head, RayClusterStatus& out) {
  out.head_pod_name = head == nullptr ? "" : (*head)->name();
  out.head_pod_ip = head == nullptr ? "" : head->pod_ip();
  if (!seen.head_service) return;
  const auto service = seen.head_service->document();
  out.head_service_name = seen.head_service->name();
  const std::string cluster_ip = text_at(*service, {"spec", "clusterIP"});
  out.head_service_ip = cluster_ip.empty() || cluster_ip == "None" ? out.head_pod_ip : cluster_ip;
  const JsonArray* ports = array_at(*service, {"spec", "ports"});
  if (ports == nullptr) return;
  for (const Json& port : *ports) {
    const std::string name = text_at(port, {"name"});
    if (name.empty()) continue;
    std::string target = text_at(port, {"targetPort"});
    for (const std::string_view field : {"port", "targetPort", "nodePort"}) {
      if (const auto number = int_at(port, {field}); number && *number != 0)
        target = std::to_string(*number);
    }
    out.endpoints[name] = target;
  }
}

// Mirrors the head pod's own Ready condition; a container's reason is worth more than
// "ContainersNotReady".
void mirror_head_ready(const PodView* head, RayClusterStatus& out, WallTime now) {
  if (head == nullptr)
    return out.set(std::string(kHeadReady), false, "HeadPodNotFound", "Head Pod not found", now);
  const auto ready = head->condition("Ready");
  if (!ready) return out.set(std::string(kHeadReady), false, "Unknown", "", now);
  if (ready->is_true()) {
    return out.set(std::string(kHeadReady), true,
                   ready->reason.empty() ? "HeadPodRunningAndReady" : ready->reason, ready->message,
                   now);
  }
  std::string reason = ready->reason.empty() ? "Unknown" : ready->reason;
  std::string message = ready->message;
  if (reason == "ContainersNotReady") {
    for (const ContainerStatus& status : head->container_statuses()) {
      const bool ended = status.exit.has_value();
      const std::string& why = ended ? status.exit->reason : status.waiting_reason;
      if (why.empty()) continue;
      reason = why;
      message += (message.empty() ? "" : "; ") + status.name + ": " +
                 (ended ? status.exit->message : status.waiting_message);
      break;
    }
  }
  out.set(std::string(kHeadReady), false, reason, message, now);
}

void mark_provisioned(const std::vector<PodView>& pods, RayClusterStatus& out, WallTime now) {
  if (out.is_true(kProvisioned)) return;
  const bool all_ready = !pods.empty() && std::ranges::all_of(pods, [](const PodView& pod) {
    return pod.phase() == PodPhase::Running && pod.ready();
  });
  if (all_ready) {
    out.set(std::string(kProvisioned), true, "AllPodRunningAndReadyFirstTime",
            "All Ray Pods are ready for the first time", now);
  } else if (out.condition(kProvisioned) == nullptr) {
    out.set(std::string(kProvisioned), false, "RayClusterPodsProvisioning",
            "RayCluster Pods are being provisioned", now);
  }
}

void move_suspension(const ClusterSeen& seen, RayClusterStatus& out, WallTime now) {
  const bool wanted = seen.cluster.spec().suspend().value_or(false);
  const auto put = [&](std::string_view type, bool value) {
    const Condition* before = out.condition(type);
    if (before == nullptr || before->is_true() != value)
      out.set(std::string(type), value, std::string(type), "", now);
  };
  if (out.is_true(kSuspending)) {
    if (!seen.pods.empty()) return;
    // Every pod is gone. What was wanted meanwhile comes next.
    out.set(std::string(kProvisioned), false, "RayClusterPodsProvisioning",
            "RayCluster has been suspended", now);
    put(kSuspending, false);
    put(kSuspended, true);
  } else if (out.is_true(kSuspended)) {
    if (!wanted) put(kSuspended, false);
  } else {
    put(kSuspended, false);
    put(kSuspending, wanted);
  }
}

void mark_failure(const ClusterSeen& seen, RayClusterStatus& out, WallTime now) {
  if (!seen.failure) return out.remove(kReplicaFailure);
  if (!seen.failure->mark.empty()) {
    out.set(std::string(kReplicaFailure), true, seen.failure->mark, seen.failure->message, now);
  }
}

void move_state(const ClusterSeen& seen, const std::vector<PodView>& pods, RayClusterStatus& out,
                WallTime now) {
  std::string state = out.state;
  const bool complete = static_cast<std::int64_t>(pods.size()) == out.desired_workers + 1;
  const bool suspend = seen.cluster.spec().suspend().value_or(false);
  if (suspend && seen.pods.empty()) {
    state = "suspended";
  } else if (!suspend && !seen.failure && complete && std::ranges::all_of(pods, is_up)) {
    state = "ready";
    out.reason.clear();
  }
  if (state == out.state) return;
  out.state = state;
  out.state_transition_times[state] = to_rfc3339(now);
}

}  // namespace

RayClusterStatus next_cluster_status(const ClusterSeen& seen, WallTime now) {
  const RayClusterStatus before = seen.cluster.status();
  RayClusterStatus out = before;
  const std::vector<PodView> pods = living(seen.pods);
  const PodView* head = head_of(pods);
  count_workers(seen, pods, out);
  sum_desired(seen.cluster.spec(), out);
  describe_head(seen, head, out);
  mirror_head_ready(head, out, now);
  mark_failure(seen, out, now);
  mark_provisioned(pods, out, now);
  move_suspension(seen, out, now);
  move_state(seen, pods, out, now);
  out.observed_generation = seen.cluster->generation();
  if (!out.same_news(before)) out.last_update_time = to_rfc3339(now);
  return out;
}

}  // namespace krater::controllers
