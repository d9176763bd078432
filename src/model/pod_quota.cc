#include "model/pod_quota.h"

#include "model/pod_resources.h"

namespace krater {
namespace {

// The larger of the steady state and the worst moment of the init phase, as for requests.
ResourceList limits_of(const Json& spec) {
  ResourceList steady, worst, sidecars;
  const auto of = [](const Json& holder) {
    return ResourceList::from(find(holder, {"resources", "limits"}));
  };
  if (const JsonArray* inits = array_at(spec, {"initContainers"})) {
    for (const Json& container : *inits) {
      ResourceList moment = of(container);
      moment += sidecars;
      if (text_at(container, {"restartPolicy"}) == "Always") sidecars += of(container);
      worst.raise_to(moment);
    }
  }
  if (const JsonArray* containers = array_at(spec, {"containers"})) {
    for (const Json& container : *containers) steady += of(container);
  }
  steady += sidecars;
  return steady.raise_to(worst);
}

bool has_limit_quota(std::string_view name) {
  return name == resources::kCpu || name == resources::kMemory ||
         name == resources::kEphemeralStorage;
}

}  // namespace

PodQuota PodQuota::of(const Json* pod_spec) {
  PodQuota out{1};
  if (pod_spec == nullptr) return out;
  out.requests = pod_spec_requests(*pod_spec);
  out.limits = limits_of(*pod_spec);
  return out;
}

void PodQuota::add(const PodQuota& other, std::int64_t times) {
  if (times <= 0) return;
  pods += other.pods * times;
  requests += other.requests.times(times);
  limits += other.limits.times(times);
}

Json PodQuota::to_json_object() const {
  JsonObject out;
  out["count/pods"] = std::to_string(pods);
  for (const auto& [name, amount] : requests.amounts()) out[name] = resource_text(name, amount);
  for (const auto& [name, amount] : limits.amounts()) {
    if (has_limit_quota(name)) out["limits." + name] = resource_text(name, amount);
  }
  out["pods"] = std::to_string(pods);
  for (const auto& [name, amount] : requests.amounts())
    out["requests." + name] = resource_text(name, amount);
  return out;
}

}  // namespace krater
