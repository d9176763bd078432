#include "model/pod_resources.h"

#include <map>

namespace krater {
namespace {

using Allocated = std::map<std::string, ResourceList, std::less<>>;  // by container name

ResourceList requests_of(const Json& holder) {
  ResourceList out = ResourceList::from(find(holder, {"resources", "requests"}));
  const ResourceList limits = ResourceList::from(find(holder, {"resources", "limits"}));
  for (const auto& [name, amount] : limits.amounts()) {
    if (!out.find(name)) out.set(name, amount);
  }
  return out;
}

ResourceList container_requests(const Json& container, const Allocated& allocated) {
  ResourceList out = requests_of(container);
  const auto known = allocated.find(text_at(container, {"name"}));
  if (known != allocated.end()) out.raise_to(known->second);
  return out;
}

// Kubernetes allows pod-level amounts for these alone.
bool may_be_pod_level(std::string_view name) {
  return name == resources::kCpu || name == resources::kMemory || name.starts_with("hugepages-");
}

ResourceList requests(const Json& spec, const Allocated& allocated) {
  ResourceList steady, init_peak, sidecars;
  if (const JsonArray* inits = array_at(spec, {"initContainers"})) {
    for (const Json& container : *inits) {
      ResourceList wants = container_requests(container, allocated);
      if (text_at(container, {"restartPolicy"}) == "Always") {
        // A native sidecar starts here and stays: it weighs on all later steps and on the steady
        // state.
        sidecars += wants;
        wants = sidecars;
      } else {
        wants += sidecars;
      }
      init_peak.raise_to(wants);
    }
  }
  if (const JsonArray* containers = array_at(spec, {"containers"})) {
    for (const Json& container : *containers) steady += container_requests(container, allocated);
  }
  steady += sidecars;
  steady.raise_to(init_peak);
  // At pod level a request overrides; a limit alone stands in only where no container asks.
  const ResourceList limits = ResourceList::from(find(spec, {"resources", "limits"}));
  for (const auto& [name, amount] : limits.amounts()) {
    if (may_be_pod_level(name) && !steady.find(name)) steady.set(name, amount);
  }
  const ResourceList pod_level = ResourceList::from(find(spec, {"resources", "requests"}));
  for (const auto& [name, amount] : pod_level.amounts()) {
    if (may_be_pod_level(name)) steady.set(name, amount);
  }
  steady += ResourceList::from(find(spec, {"overhead"}));
  return steady;
}

void collect_allocated(const Json& document, std::string_view list, Allocated& out) {
  const JsonArray* statuses = array_at(document, {"status", list});
  if (statuses == nullptr) return;
  for (const Json& status : *statuses) {
    if (const Json* amounts = find(status, {"allocatedResources"})) {
      out.emplace(text_at(status, {"name"}), ResourceList::from(amounts));
    }
  }
}

}  // namespace

ResourceList pod_spec_requests(const Json& spec) {
  return requests(spec, {});
}

ResourceList pod_requests(const PodView& pod) {
  Allocated allocated;
  collect_allocated(pod.document(), "containerStatuses", allocated);
  collect_allocated(pod.document(), "initContainerStatuses", allocated);
  ResourceList out = requests(pod.spec(), allocated);
  out.set(resources::kPods, 1);
  return out;
}

}  // namespace krater
