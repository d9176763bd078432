// Defaults of other kinds that depend on other fields. Literal ones stand in the schemas.
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

std::string text(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(view(value->get_string()))
                                                : std::string();
}

void set_absent(JsonObject& object, std::string_view key, Json value) {
  if (object.if_contains(key) == nullptr) object.emplace(key, std::move(value));
}

// Of a Job; the template of a CronJob stays as it was written.
void default_job_spec(JsonObject& spec) {
  const bool no_completions = spec.if_contains("completions") == nullptr;
  if (no_completions && spec.if_contains("parallelism") == nullptr) spec["completions"] = 1;
  set_absent(spec, "parallelism", 1);
  set_absent(spec, "completionMode", "NonIndexed");
  set_absent(spec, "manualSelector", false);
  set_absent(spec, "suspend", false);
  set_absent(spec, "backoffLimit",
             spec.if_contains("backoffLimitPerIndex") == nullptr ? 6 : 2147483647);
  set_absent(spec, "podReplacementPolicy",
             spec.if_contains("podFailurePolicy") == nullptr ? "TerminatingOrFailed" : "Failed");
}

}  // namespace

void default_service_port(JsonObject& port) {
  const Json* number = port.if_contains("port");
  if (number == nullptr) return;
  const Json* target = port.if_contains("targetPort");
  const bool unset = target == nullptr || (target->is_string() && target->get_string().empty()) ||
                     as_int(*target) == 0;
  if (unset) port["targetPort"] = Json(*number);
}

void default_service_spec(JsonObject& spec) {
  const std::string type = text(spec, "type");
  if (type != "ExternalName") set_absent(spec, "internalTrafficPolicy", "Cluster");
  if (type == "NodePort" || type == "LoadBalancer")
    set_absent(spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_absent(spec, "allocateLoadBalancerNodePorts", true);
  if (type == "ExternalName") return;
  if (text(spec, "sessionAffinity") == "None") spec.stable_erase("sessionAffinityConfig");
  if (text(spec, "sessionAffinity") == "ClientIP") {
    Json config(JsonObject{});
    set_path(config, {"clientIP", "timeoutSeconds"}, 10800);
    set_absent(spec, "sessionAffinityConfig", std::move(config));
  }
  // clusterIP and clusterIPs say the same; the one given fills the other.
  if (const std::string address = text(spec, "clusterIP"); !address.empty()) {
    set_absent(spec, "clusterIPs", JsonArray{Json(address)});
  } else if (const Json* list = spec.if_contains("clusterIPs");
             list != nullptr && list->is_array() && !list->get_array().empty()) {
    spec.emplace("clusterIP", Json(list->get_array()[0]));
  }
}

void default_secret(JsonObject& secret) {
  const Json* plain = secret.if_contains("stringData");
  if (plain == nullptr || !plain->is_object()) return;
  const JsonObject texts = plain->get_object();
  secret.stable_erase("stringData");
  Json& data = secret["data"];
  if (!data.is_object()) data = JsonObject();
  for (const auto& entry : texts) {
    if (entry.value().is_string())
      data.get_object()[entry.key()] = base64_encode(view(entry.value().get_string()));
  }
}

void default_namespace(JsonObject& name_space) {
  const Json* meta = name_space.if_contains("metadata");
  const std::string name = meta == nullptr ? std::string() : text_at(*meta, {"name"});
  if (name.empty()) return;
  Json root(std::move(name_space));
  set_path(root, {"metadata", "labels", "kubernetes.io/metadata.name"}, Json(name));
  name_space = std::move(root.get_object());
}

void default_node_status(JsonObject& status) {
  const Json* capacity = status.if_contains("capacity");
  if (capacity == nullptr || !capacity->is_object()) return;
  const JsonObject amounts = capacity->get_object();
  Json& allocatable = status["allocatable"];
  if (!allocatable.is_object()) allocatable = JsonObject();
  for (const auto& entry : amounts) {
    if (allocatable.get_object().if_contains(entry.key()) == nullptr) {
      allocatable.get_object()[entry.key()] = entry.value();
    }
  }
}

void default_job(JsonObject& job) {
  if (Json* spec = job.if_contains("spec"); spec != nullptr && spec->is_object())
    default_job_spec(spec->get_object());
  // A job without labels takes those of its pods, once it is said which these are (admission).
  Json root(std::move(job));
  if (find(root, {"spec", "selector"}) == nullptr &&
      !bool_at(root, {"spec", "manualSelector"}).value_or(false)) {
    job = std::move(root.get_object());
    return;
  }
  const JsonObject* labels = object_at(root, {"metadata", "labels"});
  const JsonObject* pod_labels = object_at(root, {"spec", "template", "metadata", "labels"});
  if ((labels == nullptr || labels->empty()) && pod_labels != nullptr && !pod_labels->empty()) {
    set_path(root, {"metadata", "labels"}, Json(*pod_labels));
  }
  job = std::move(root.get_object());
}

}  // namespace krater::api::rules
