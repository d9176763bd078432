#include <set>
#include <string>

#include "api/machinery/rules/pod_details.h"
#include "api/machinery/rules/pod_update.h"
#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

std::set<std::string> names_in(const Json& spec, std::string_view list) {
  std::set<std::string> names;
  if (const JsonArray* items = array_at(spec, {list})) {
    for (const Json& item : *items) names.insert(text_at(item, {"name"}));
  }
  return names;
}

// Mounts name volumes of the pod, and no two of a container the same place.
void check_mounts(const Json& container, const std::set<std::string>& volumes,
                  const FieldPath& path, FieldErrors& errors) {
  const JsonArray* mounts = array_at(container, {"volumeMounts"});
  if (mounts == nullptr) return;
  const FieldPath list = path.field("volumeMounts");
  std::set<std::string> places;
  for (std::size_t i = 0; i < mounts->size(); ++i) {
    const FieldPath here = list.index(i);
    const std::string name = text_at((*mounts)[i], {"name"});
    const std::string place = text_at((*mounts)[i], {"mountPath"});
    if (!name.empty() && volumes.find(name) == volumes.end())
      errors.not_found(here.field("name"), Json(name));
    if (!place.empty() && !places.insert(place).second) {
      errors.invalid(here.field("mountPath"), Json(place), "must be unique");
    }
  }
}

void check_host_ports(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const JsonArray* ports = array_at(container, {"ports"});
  if (ports == nullptr) return;
  const FieldPath list = path.field("ports");
  for (std::size_t i = 0; i < ports->size(); ++i) {
    const auto host = int_at((*ports)[i], {"hostPort"});
    const auto own = int_at((*ports)[i], {"containerPort"});
    if (host && own && *host != *own) {
      errors.invalid(list.index(i).field("hostPort"), Json(*host),
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void check_init_container(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const auto policy = string_at(container, {"restartPolicy"});
  if (policy && *policy != "Always")
    errors.unsupported(path.field("restartPolicy"), *policy, {"Always"});
  if (policy) return;  // a sidecar may be probed
  for (std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
    if (find(container, {name}) != nullptr) {
      errors.forbidden(path.field(name),
                       "may not be set for init containers without restartPolicy=Always");
    }
  }
}

void check_containers(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const std::set<std::string> volumes = names_in(spec, "volumes");
  const std::set<std::string> mains = names_in(spec, "containers");
  const bool host_network = bool_at(spec, {"hostNetwork"}).value_or(false);
  for (std::string_view list : {"initContainers", "containers"}) {
    const JsonArray* containers = array_at(spec, {list});
    if (containers == nullptr) continue;
    const FieldPath in_list = path.field(list);
    for (std::size_t i = 0; i < containers->size(); ++i) {
      const Json& container = (*containers)[i];
      const FieldPath here = in_list.index(i);
      check_mounts(container, volumes, here, errors);
      if (host_network) check_host_ports(container, here, errors);
      if (list == "containers") {
        if (find(container, {"restartPolicy"}) != nullptr) {
          errors.forbidden(here.field("restartPolicy"), "may not be set for non-init containers");
        }
        continue;
      }
      check_init_container(container, here, errors);
      const std::string name = text_at(container, {"name"});
      if (mains.find(name) != mains.end()) errors.duplicate(here.field("name"), Json(name));
    }
  }
}

void check_node_selector(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  if (const Json* selector = find(spec, {"nodeSelector"});
      selector != nullptr && selector->is_object()) {
    check_labels(*selector, path.field("nodeSelector"), errors);
  }
}

}  // namespace

void pod_spec(const RuleInput& in, FieldErrors& errors) {
  check_containers(in.value, in.path, errors);
  check_pod_details(in, errors);
  check_node_selector(in.value, in.path, errors);
  if (bool_at(in.value, {"securityContext", "hostUsers"}).value_or(false)) return;
  if (bool_at(in.value, {"shareProcessNamespace"}).value_or(false) &&
      bool_at(in.value, {"hostPID"}).value_or(false)) {
    const FieldPath context = in.path.field("securityContext");
    errors.invalid(context.field("shareProcessNamespace"), Json(true),
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  }
}

void pod(const RuleInput& in, FieldErrors& errors) {
  if (in.old != nullptr) return check_pod_update(in.value, *in.old, errors);
  const FieldPath spec = in.path.field("spec");
  const JsonArray* guests = array_at(in.value, {"spec", "ephemeralContainers"});
  if (guests != nullptr && !guests->empty())
    errors.forbidden(spec.field("ephemeralContainers"), "cannot be set on create");
  const JsonArray* gates = array_at(in.value, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty() && !text_at(in.value, {"spec", "nodeName"}).empty()) {
    errors.forbidden(spec.field("nodeName"),
                     "cannot be set until all schedulingGates have been cleared");
  }
}

}  // namespace krater::api::rules
