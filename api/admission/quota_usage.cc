// What single objects use.
#include <array>

#include "api/admission/quota.h"
#include "model/pod_resources.h"

namespace krater::api {
namespace {

const Quantity kOne = Quantity::from_value(1);

// Core kinds that quotas name without "count/".
constexpr std::array<std::string_view, 4> kPlainNames{"configmaps", "replicationcontrollers",
                                                      "resourcequotas", "secrets"};
constexpr std::string_view kOfClass = ".storageclass.storage.k8s.io/";

Quantity amount(std::string_view resource, std::int64_t value) {
  if (resource == resources::kCpu) return Quantity::from_milli(value);
  const bool bytes = resource == resources::kMemory || resource == resources::kEphemeralStorage ||
                     resource.starts_with("hugepages-");
  return Quantity::from_value(value,
                              bytes ? Quantity::Format::BinarySI : Quantity::Format::DecimalSI);
}

// The spec with limits where requests stand: what the pod may grow to, counted the same way.
Json with_limits_as_requests(const Json& spec) {
  Json out = spec;
  erase_path(out, {"overhead"});
  for (const std::string_view list : {"initContainers", "containers"}) {
    Json* containers = find(out, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      const Json* limits = find(container, {"resources", "limits"});
      set_path(container, {"resources", "requests"},
               limits == nullptr ? Json(JsonObject()) : *limits);
    }
  }
  return out;
}

void add_pod(const Json& pod, Usage& out) {
  const Json* spec = find(pod, {"spec"});
  const std::string phase = text_at(pod, {"status", "phase"});
  if (spec == nullptr || phase == "Failed" || phase == "Succeeded") return;
  out["pods"] = kOne;
  const ResourceList requests = pod_spec_requests(*spec);
  for (const auto& [name, value] : requests.amounts()) {
    out["requests." + name] = amount(name, value);
    // Extended resources are known by their request alone.
    if (name.find('/') == std::string::npos) out[name] = amount(name, value);
  }
  const ResourceList limits = pod_spec_requests(with_limits_as_requests(*spec));
  for (const auto& [name, value] : limits.amounts()) {
    if (name.find('/') == std::string::npos) out["limits." + name] = amount(name, value);
  }
}

void add_service(const Json& service, Usage& out) {
  out["services"] = kOne;
  const std::string type = text_at(service, {"spec", "type"});
  const JsonArray* ports = array_at(service, {"spec", "ports"});
  const auto count =
      Quantity::from_value(ports == nullptr ? 0 : static_cast<std::int64_t>(ports->size()));
  if (type == "NodePort") out["services.nodeports"] = count;
  if (type != "LoadBalancer") return;
  out["services.loadbalancers"] = kOne;
  if (bool_at(service, {"spec", "allocateLoadBalancerNodePorts"}).value_or(true))
    out["services.nodeports"] = count;
}

// By the class it names also under the names of the class.
void add_claim(const Json& claim, Usage& out) {
  const auto text = string_at(claim, {"spec", "resources", "requests", "storage"});
  const Result<Quantity> size = text ? Quantity::parse(*text) : Quantity();
  const Quantity storage = size ? *size : Quantity();
  out["persistentvolumeclaims"] = kOne;
  out["requests.storage"] = storage;
  const std::string of = text_at(claim, {"spec", "storageClassName"});
  if (of.empty()) return;
  out[of + std::string(kOfClass) + "persistentvolumeclaims"] = kOne;
  out[of + std::string(kOfClass) + "requests.storage"] = storage;
}

}  // namespace

Usage usage_of(const Kind& kind, const Json& object) {
  Usage out;
  const std::string resource = kind.resource();
  out["count/" + resource] = kOne;
  if (resource == "pods") {
    add_pod(object, out);
  } else if (resource == "services") {
    add_service(object, out);
  } else if (resource == "persistentvolumeclaims") {
    add_claim(object, out);
  } else {
    for (const std::string_view name : kPlainNames) {
      if (name == resource) out[resource] = kOne;
    }
  }
  return out;
}

}  // namespace krater::api
