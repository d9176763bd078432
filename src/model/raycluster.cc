#include "model/raycluster.h"

#include <algorithm>

#include "model/ray_keys.h"

namespace krater {
namespace {

const Json& empty_object() {
  static const Json empty(boost::json::object_kind);
  return empty;
}
const JsonArray& empty_array() {
  static const JsonArray empty;
  return empty;
}
const Json& object_or_empty(const Json& root, JsonPath path) {
  const Json* found = find(root, path);
  return found != nullptr && found->is_object() ? *found : empty_object();
}

constexpr std::int64_t kUnlimited = 2147483647;

void set_or_erase(JsonObject& out, std::string_view key, const std::string& value) {
  if (value.empty()) {
    if (const auto place = out.find(key); place != out.end()) out.stable_erase(place);
  } else {
    out[key] = value;
  }
}

}  // namespace

std::string RayGroupSpec::name() const {
  return is_head() ? std::string(ray_keys::kHeadGroup) : text_at(*json_, {"groupName"});
}

const Json& RayGroupSpec::pod_template() const {
  return object_or_empty(*json_, {"template"});
}

const JsonArray& RayGroupSpec::containers() const {
  const JsonArray* list = array_at(*json_, {"template", "spec", "containers"});
  return list == nullptr ? empty_array() : *list;
}

const Json& RayGroupSpec::ray_container() const {
  return containers().empty() || !containers().front().is_object() ? empty_object()
                                                                   : containers().front();
}

std::int64_t RayGroupSpec::clamped_replicas() const {
  const std::int64_t low = min_replicas().value_or(0);
  if (!replicas() || *replicas() < low) return low;
  return std::min(*replicas(), max_replicas().value_or(kUnlimited));
}

std::vector<std::string> RayGroupSpec::workers_to_delete() const {
  std::vector<std::string> out;
  const JsonArray* names = array_at(*json_, {"scaleStrategy", "workersToDelete"});
  if (names == nullptr) return out;
  for (const Json& name : *names) {
    if (name.is_string()) out.emplace_back(view(name.get_string()));
  }
  return out;
}

RayGroupSpec RayClusterSpec::head() const {
  return {object_or_empty(*json_, {"headGroupSpec"}), RayGroupSpec::Role::Head};
}

std::vector<RayGroupSpec> RayClusterSpec::workers() const {
  std::vector<RayGroupSpec> out;
  const JsonArray* groups = array_at(*json_, {"workerGroupSpecs"});
  if (groups == nullptr) return out;
  for (const Json& group : *groups) out.emplace_back(group, RayGroupSpec::Role::Worker);
  return out;
}

std::int64_t RayClusterSpec::desired_workers() const {
  std::int64_t sum = 0;
  for (const RayGroupSpec& group : workers()) sum += group.desired_pods();
  return sum;
}

RayClusterStatus RayClusterStatus::from(const Json& status) {
  RayClusterStatus out;
  out.state = text_at(status, {"state"});
  out.reason = text_at(status, {"reason"});
  out.conditions = conditions_of(JsonObject{{"status", status}});
  out.desired_workers = int_at(status, {"desiredWorkerReplicas"}).value_or(0);
  out.min_workers = int_at(status, {"minWorkerReplicas"}).value_or(0);
  out.max_workers = int_at(status, {"maxWorkerReplicas"}).value_or(0);
  out.ready_workers = int_at(status, {"readyWorkerReplicas"}).value_or(0);
  out.available_workers = int_at(status, {"availableWorkerReplicas"}).value_or(0);
  out.desired_cpu = text_at(status, {"desiredCPU"});
  out.desired_memory = text_at(status, {"desiredMemory"});
  out.desired_gpu = text_at(status, {"desiredGPU"});
  out.desired_tpu = text_at(status, {"desiredTPU"});
  out.endpoints = string_map(find(status, {"endpoints"}));
  out.head_pod_ip = text_at(status, {"head", "podIP"});
  out.head_pod_name = text_at(status, {"head", "podName"});
  out.head_service_ip = text_at(status, {"head", "serviceIP"});
  out.head_service_name = text_at(status, {"head", "serviceName"});
  out.last_update_time = text_at(status, {"lastUpdateTime"});
  out.state_transition_times = string_map(find(status, {"stateTransitionTimes"}));
  out.observed_generation = int_at(status, {"observedGeneration"}).value_or(0);
  return out;
}

Json RayClusterStatus::to_json_value(const Json& base) const {
  JsonObject out = base.is_object() ? base.get_object() : JsonObject();
  set_or_erase(out, "state", state);
  set_or_erase(out, "reason", reason);
  JsonArray list;
  for (const Condition& condition : conditions) {
    Json entry = krater::to_json_value(condition);
    // metav1.Condition: present also when empty.
    entry.get_object()["reason"] = condition.reason;
    entry.get_object()["message"] = condition.message;
    list.push_back(std::move(entry));
  }
  out["conditions"] = std::move(list);
  out["desiredWorkerReplicas"] = desired_workers;
  out["minWorkerReplicas"] = min_workers;
  out["maxWorkerReplicas"] = max_workers;
  out["readyWorkerReplicas"] = ready_workers;
  out["availableWorkerReplicas"] = available_workers;
  set_or_erase(out, "desiredCPU", desired_cpu);
  set_or_erase(out, "desiredMemory", desired_memory);
  set_or_erase(out, "desiredGPU", desired_gpu);
  set_or_erase(out, "desiredTPU", desired_tpu);
  out["endpoints"] = to_json_object(endpoints);
  JsonObject head;
  set_or_erase(head, "podIP", head_pod_ip);
  set_or_erase(head, "podName", head_pod_name);
  set_or_erase(head, "serviceIP", head_service_ip);
  set_or_erase(head, "serviceName", head_service_name);
  out["head"] = std::move(head);
  set_or_erase(out, "lastUpdateTime", last_update_time);
  if (!state_transition_times.empty())
    out["stateTransitionTimes"] = to_json_object(state_transition_times);
  out["observedGeneration"] = observed_generation;
  return out;
}

const Condition* RayClusterStatus::condition(std::string_view type) const {
  const auto place = std::find_if(conditions.begin(), conditions.end(),
                                  [type](const Condition& c) { return c.type == type; });
  return place == conditions.end() ? nullptr : &*place;
}

bool RayClusterStatus::is_true(std::string_view type) const {
  const Condition* found = condition(type);
  return found != nullptr && found->is_true();
}

void RayClusterStatus::set(std::string type, bool value, std::string why, std::string message,
                           WallTime now) {
  Condition next{std::move(type), value ? "True" : "False", std::move(why), std::move(message),
                 now};
  for (Condition& condition : conditions) {
    if (condition.type != next.type) continue;
    if (condition.status == next.status) next.last_transition = condition.last_transition;
    condition = std::move(next);
    return;
  }
  conditions.push_back(std::move(next));
}

void RayClusterStatus::remove(std::string_view type) {
  std::erase_if(conditions, [type](const Condition& c) { return c.type == type; });
}

bool RayClusterStatus::same_news(const RayClusterStatus& o) const {
  return state == o.state && reason == o.reason && conditions == o.conditions &&
         desired_workers == o.desired_workers && min_workers == o.min_workers &&
         max_workers == o.max_workers && ready_workers == o.ready_workers &&
         available_workers == o.available_workers && endpoints == o.endpoints &&
         head_pod_ip == o.head_pod_ip && head_pod_name == o.head_pod_name &&
         head_service_ip == o.head_service_ip && head_service_name == o.head_service_name;
}

RayClusterSpec RayClusterView::spec() const {
  return RayClusterSpec(object_or_empty(document(), {"spec"}));
}

const Json& RayClusterView::status_json() const {
  return object_or_empty(document(), {"status"});
}

bool RayClusterView::managed_here() const {
  const auto manager = string({"spec", "managedBy"});
  return !manager || manager->empty() || *manager == ray_keys::kManager;
}

}  // namespace krater
