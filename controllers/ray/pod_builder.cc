#include "controllers/ray/pod_builder.h"

#include "base/strings.h"
#include "controllers/ray/names.h"
#include "controllers/ray/ray_container.h"
#include "controllers/ray/start_params.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

namespace rk = ray_keys;

Labels default_labels(const PodContext& context, const RayGroupSpec& group) {
  const std::string_view type = group.is_head() ? rk::kHead : rk::kWorker;
  return {{std::string(rk::kIsRayNode), "yes"},
          {std::string(rk::kCluster), context.cluster},
          {std::string(rk::kNodeType), std::string(type)},
          {std::string(rk::kGroup), group.name()},
          {std::string(rk::kIdentifier), label_value(context.cluster + "-" + std::string(type))},
          {std::string(rk::kAppName), std::string(rk::kAppNameValue)},
          {std::string(rk::kCreatedBy), std::string(rk::kCreatedByValue)}};
}

// The user's labels win, except over what we select pods by.
Labels pod_labels(const PodContext& context, const RayGroupSpec& group) {
  Labels out = default_labels(context, group);
  const auto take = [&out](const Labels& from) {
    for (const auto& [key, value] : from) {
      if (key != rk::kNodeType && key != rk::kGroup && key != rk::kCluster) out[key] = value;
    }
  };
  take(string_map(find(group.pod_template(), {"metadata", "labels"})));
  take(group.structured_labels());
  return out;
}

Labels pod_annotations(const PodContext& context, const RayGroupSpec& group) {
  Labels out = string_map(find(group.pod_template(), {"metadata", "annotations"}));
  const auto overwrite = context.cluster_annotations.find(rk::kOverwriteCommand);
  if (overwrite != context.cluster_annotations.end() && to_lower(overwrite->second) == "true") {
    out[std::string(rk::kOverwriteCommand)] = "true";
  }
  if (group.is_head()) {
    out[std::string(rk::kFaultTolerance)] = "false";
    out[std::string(rk::kRecreateHash)] = recreate_hash(context.spec);
    out[std::string(rk::kOperatorVersion)] = context.version;
  }
  return out;
}

JsonArray& array_in(Json& object, std::string_view key) {
  Json& slot = object.get_object()[key];
  if (!slot.is_array()) slot.emplace_array();
  return slot.get_array();
}

void add_metrics_port(Json& container) {
  JsonArray& ports = array_in(container, "ports");
  for (const Json& port : ports) {
    if (string_at(port, {"name"}) == "metrics") return;
  }
  ports.push_back(JsonObject{{"name", "metrics"}, {"containerPort", 8080}});
}

// The pod both builders share: metadata, the Ray container, volumes.
Json build(const PodContext& context, const RayGroupSpec& group, const Labels& params) {
  Json pod = new_object(kinds::kPod, context.name_space, "");
  JsonObject metadata{{"namespace", context.name_space}};
  metadata["labels"] = to_json_object(pod_labels(context, group));
  metadata["annotations"] = to_json_object(pod_annotations(context, group));
  if (const Json* finalizers = find(group.pod_template(), {"metadata", "finalizers"})) {
    metadata["finalizers"] = *finalizers;
  }
  pod.get_object()["metadata"] = std::move(metadata);
  const Json* spec = find(group.pod_template(), {"spec"});
  pod.get_object()["spec"] = spec == nullptr ? Json(boost::json::object_kind) : *spec;
  Json& pod_spec = *find(pod, {"spec"});
  JsonArray& containers = array_in(pod_spec, "containers");
  if (containers.empty()) return pod;  // refused by validation before it comes to a pod

  Json& ray = containers.front();
  add_metrics_port(ray);
  const std::string command = start_command(group.is_head(), params);
  const bool overwrite =
      to_lower(text_at(pod, {"metadata", "annotations", rk::kOverwriteCommand})) == "true";
  wrap_command(ray, command, overwrite);
  add_ray_env(ray, context, group, command);
  if (find(pod_spec, {"initContainers"}) != nullptr) {
    for (Json& init : array_in(pod_spec, "initContainers")) add_head_address_env(init, context);
  }
  add_shared_memory(pod_spec, params);
  add_probes(ray, context, group, params);
  return pod;
}

}  // namespace

std::string PodContext::head_fqdn() const {
  return service_fqdn(head_service_name(cluster, spec), name_space, cluster_domain);
}
std::string PodContext::gcs_address() const {
  return head_fqdn() + ":" + gcs_port(spec);
}

Json build_head_pod(const PodContext& context) {
  const RayGroupSpec head = context.spec.head();
  return build(context, head, complete_start_params(head, {}));
}

Json build_worker_pod(const PodContext& context, const RayGroupSpec& group,
                      const ReplicaSlot& slot) {
  const Labels params = complete_start_params(group, context.gcs_address());
  Json pod = build(context, group, params);
  Json& spec = *find(pod, {"spec"});
  Json wait = wait_gcs_ready_container(context, group.ray_container());
  add_head_address_env(wait, context);
  array_in(spec, "initContainers").push_back(std::move(wait));
  set_path(pod, {"metadata", "labels", rk::kReplicaIndex}, Json(std::to_string(slot.index)));
  if (!slot.replica_name.empty()) {
    set_path(pod, {"metadata", "labels", rk::kReplicaName}, Json(slot.replica_name));
    set_path(pod, {"metadata", "labels", rk::kHostIndex}, Json(std::to_string(slot.host)));
  }
  return pod;
}

namespace {

void forget_placement(Json& group) {
  erase_path(group, {"template", "spec", "tolerations"});
  erase_path(group, {"template", "spec", "schedulingGates"});
}

}  // namespace

std::string recreate_hash(const RayClusterSpec& spec) {
  Json copy = spec.json();
  erase_path(copy, {"upgradeStrategy"});
  erase_path(copy, {"suspend"});
  if (Json* head = find(copy, {"headGroupSpec"})) forget_placement(*head);
  if (Json* groups = find(copy, {"workerGroupSpecs"}); groups != nullptr && groups->is_array()) {
    for (Json& group : groups->get_array()) {
      forget_placement(group);
      for (const std::string_view key : {"replicas", "minReplicas", "maxReplicas"})
        erase_path(group, {key});
      erase_path(group, {"scaleStrategy"});
    }
  }
  const std::string text = to_json(with_sorted_keys(copy));
  const std::uint64_t hash = fnv1a(text);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(hash >> shift & 0xff);
  return hex_encode(bytes);
}

}  // namespace krater::controllers
