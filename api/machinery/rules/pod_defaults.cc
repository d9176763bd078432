// Defaults of pods that depend on other fields. Literal ones stand in the schemas.
#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

void for_each_container(JsonObject& spec, void (*visit)(JsonObject&)) {
  for (std::string_view list : {"initContainers", "containers"}) {
    Json* containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      if (container.is_object()) visit(container.get_object());
    }
  }
}

// On the node's network a container's port is the node's port.
void host_ports(JsonObject& container) {
  Json* ports = container.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (Json& port : ports->get_array()) {
    if (!port.is_object()) continue;
    JsonObject& fields = port.get_object();
    const Json* number = fields.if_contains("containerPort");
    if (number != nullptr && fields.if_contains("hostPort") == nullptr)
      fields["hostPort"] = *number;
  }
}

// Always for the tag `latest` (or none), IfNotPresent for any other tag and for digests.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const auto slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const auto colon = last.rfind(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest" ? "Always"
                                                                               : "IfNotPresent";
}

// What is limited is requested, unless something else is.
void default_requests(JsonObject& holder) {
  Json* resources = holder.if_contains("resources");
  if (resources == nullptr || !resources->is_object()) return;
  const Json* limits = resources->get_object().if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return;
  const JsonObject limit_map = limits->get_object();
  Json& requests = resources->get_object()["requests"];
  if (!requests.is_object()) requests = JsonObject();
  for (const auto& limit : limit_map) {
    if (requests.get_object().if_contains(limit.key()) == nullptr)
      requests.get_object()[limit.key()] = limit.value();
  }
}

}  // namespace

// Of pods alone: templates stay as they were written.
void default_pod(JsonObject& pod) {
  Json* member = pod.if_contains("spec");
  if (member == nullptr || !member->is_object()) return;
  JsonObject& spec = member->get_object();
  for_each_container(spec, default_requests);
  default_requests(spec);
  if (spec.if_contains("enableServiceLinks") == nullptr) spec["enableServiceLinks"] = true;
  if (const Json* host = spec.if_contains("hostNetwork");
      host != nullptr && host->is_bool() && host->get_bool()) {
    for_each_container(spec, host_ports);
  }
}

void default_pod_spec(JsonObject& spec) {
  // serviceAccount is the old name of serviceAccountName; both are served.
  const Json* name = spec.if_contains("serviceAccountName");
  const Json* old_name = spec.if_contains("serviceAccount");
  if (name == nullptr && old_name != nullptr) {
    spec.emplace("serviceAccountName", Json(*old_name));
  } else if (name != nullptr) {
    spec["serviceAccount"] = Json(*name);
  }
}

void default_container(JsonObject& container) {
  if (container.if_contains("imagePullPolicy") != nullptr) return;
  const Json* image = container.if_contains("image");
  if (image == nullptr || !image->is_string()) return;
  container["imagePullPolicy"] = pull_policy(view(image->get_string()));
}

void default_volume(JsonObject& volume) {
  for (const auto& entry : volume) {
    if (std::string_view(entry.key()) != "name") return;
  }
  volume["emptyDir"] = JsonObject();
}

}  // namespace krater::api::rules
