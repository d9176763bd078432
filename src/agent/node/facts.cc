#include "agent/node/facts.h"

#include <algorithm>
#include <array>

#include "base/quantity.h"
#include "model/keys.h"
#include "model/storage.h"

namespace krater::agent {
namespace {

struct Said {
  std::string_view type, status, reason, message;
};

std::array<Said, 4> conditions_of(const Pressures& pressures) {
  return {pressures.memory ? Said{"MemoryPressure", "True", "KubeletHasInsufficientMemory",
                                  "kubelet has insufficient memory available"}
                           : Said{"MemoryPressure", "False", "KubeletHasSufficientMemory",
                                  "kubelet has sufficient memory available"},
          pressures.disk
              ? Said{"DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure"}
              : Said{"DiskPressure", "False", "KubeletHasNoDiskPressure",
                     "kubelet has no disk pressure"},
          pressures.pids ? Said{"PIDPressure", "True", "KubeletHasInsufficientPID",
                                "kubelet has insufficient PID available"}
                         : Said{"PIDPressure", "False", "KubeletHasSufficientPID",
                                "kubelet has sufficient PID available"},
          Said{"Ready", "True", "KubeletReady", "kubelet is posting ready status"}};
}

const Json* condition_named(const Json* current, std::string_view type) {
  const JsonArray* list =
      current == nullptr ? nullptr : array_at(*current, {"status", "conditions"});
  if (list == nullptr) return nullptr;
  const auto place =
      std::ranges::find_if(*list, [&](const Json& one) { return text_at(one, {"type"}) == type; });
  return place == list->end() ? nullptr : &*place;
}

Json condition(const Said& said, const Json* current, WallTime now) {
  const std::string stamp = to_rfc3339(now);
  std::string since = stamp;
  if (const Json* old = condition_named(current, said.type);
      old != nullptr && text_at(*old, {"status"}) == said.status) {
    if (const auto time = string_at(*old, {"lastTransitionTime"})) since = std::string(*time);
  }
  return Json{{"type", said.type},          {"status", said.status},
              {"reason", said.reason},      {"message", said.message},
              {"lastHeartbeatTime", stamp}, {"lastTransitionTime", since}};
}

Json resources(const NodeFacts& facts) {
  using Format = Quantity::Format;
  return Json{
      {"cpu", Quantity::from_milli(facts.cpu_milli).text()},
      {"ephemeral-storage",
       Quantity::from_value(facts.ephemeral_bytes / 1024 * 1024, Format::BinarySI).text()},
      {"memory", Quantity::from_value(facts.memory_bytes / 1024 * 1024, Format::BinarySI).text()},
      {"pods", Quantity::from_value(facts.pods).text()}};
}

}  // namespace

Labels node_labels(const NodeFacts& facts, const NodeInfo& info) {
  Labels out = info.labels;
  out[std::string(keys::kHostname)] = facts.name;
  for (const std::string_view prefix : {"kubernetes.io/", "beta.kubernetes.io/"}) {
    out[std::string(prefix) + "os"] = info.operating_system;
    out[std::string(prefix) + "arch"] = info.architecture;
  }
  return out;
}

Labels node_annotations(const NodeInfo& info) {
  Labels out;
  if (!info.volumes_directory.empty())
    out[std::string(keys::kVolumesDirectory)] = info.volumes_directory;
  return out;
}

Json node_object(const NodeFacts& facts, const NodeInfo& info) {
  Json out = new_object(kinds::kNode, {}, facts.name);
  set_path(out, {"metadata", "labels"}, to_json_object(node_labels(facts, info)));
  if (const Labels annotations = node_annotations(info); !annotations.empty())
    set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
  out.get_object()["spec"] = JsonObject();
  return out;
}

Json node_status(const NodeFacts& facts, const NodeInfo& info, const Pressures& pressures,
                 const Json* current, WallTime now) {
  const std::array<Said, 4> own_conditions = conditions_of(pressures);
  JsonArray conditions;
  for (const Said& said : own_conditions) conditions.push_back(condition(said, current, now));
  if (const JsonArray* list =
          current == nullptr ? nullptr : array_at(*current, {"status", "conditions"})) {
    for (const Json& one : *list) {
      const std::string type = text_at(one, {"type"});
      if (std::ranges::none_of(own_conditions, [&](const Said& said) { return said.type == type; }))
        conditions.push_back(one);
    }
  }
  // Resources that others announce on the node (devices, extended resources) stay.
  const Json own = resources(facts);
  const auto amounts = [&](std::string_view field) {
    JsonObject out;
    if (const JsonObject* old =
            current == nullptr ? nullptr : object_at(*current, {"status", field}))
      out = *old;
    for (const auto& member : own.get_object()) out[member.key()] = member.value();
    return out;
  };
  JsonObject out;
  out["addresses"] = Json{{{"type", "InternalIP"}, {"address", facts.ip}},
                          {{"type", "Hostname"}, {"address", facts.name}}};
  out["capacity"] = amounts("capacity");
  out["allocatable"] = amounts("allocatable");
  out["conditions"] = std::move(conditions);
  out["daemonEndpoints"] = Json{{"kubeletEndpoint", {{"Port", 0}}}};
  out["nodeInfo"] = Json{{"architecture", info.architecture},
                         {"bootID", info.boot_id},
                         {"containerRuntimeVersion", info.runtime_version},
                         {"kernelVersion", info.kernel_version},
                         {"kubeProxyVersion", info.version},
                         {"kubeletVersion", info.version},
                         {"machineID", info.machine_id},
                         {"operatingSystem", info.operating_system},
                         {"osImage", info.os_image},
                         {"systemUUID", info.system_uuid}};
  return Json(std::move(out));
}

bool node_needs_status(const NodeFacts& facts, const NodeInfo& info, const Pressures& pressures,
                       const Json& current) {
  for (const Said& said : conditions_of(pressures)) {
    const Json* now = condition_named(&current, said.type);
    if (now == nullptr || text_at(*now, {"status"}) != said.status) return true;
  }
  const JsonObject* capacity = object_at(current, {"status", "capacity"});
  if (capacity == nullptr) return true;
  const Json wanted = resources(facts);
  return std::ranges::any_of(wanted.get_object(), [&](const auto& member) {
    const Json* has = capacity->if_contains(member.key());
    return has == nullptr || *has != member.value();
  });
}

Json lease_object(const NodeFacts& facts, const Object* node, WallTime now) {
  Json out = new_object(kinds::kLease, kLeaseNamespace, facts.name);
  if (node != nullptr) {
    set_path(out, {"metadata", "ownerReferences"},
             Json{{{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"name", facts.name},
                   {"uid", node->uid().text()}}});
  }
  out.get_object()["spec"] = Json{{"holderIdentity", facts.name},
                                  {"leaseDurationSeconds", kLeaseSeconds},
                                  {"renewTime", to_rfc3339_micro(now)}};
  return out;
}

}  // namespace krater::agent
