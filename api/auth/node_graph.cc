#include "api/auth/node_graph.h"

#include <utility>

#include "model/storage.h"

namespace krater::api {
namespace {

void add(std::set<PodReference>& out, std::string_view resource, std::string_view name) {
  if (!name.empty()) out.insert({std::string(resource), std::string(name)});
}

void add_at(std::set<PodReference>& out, std::string_view resource, const Json& value,
            JsonPath path) {
  if (const auto name = string_at(value, path)) add(out, resource, *name);
}

template <typename Visit>
void each(const Json& value, JsonPath path, Visit visit) {
  if (const JsonArray* list = array_at(value, path)) {
    for (const Json& item : *list) visit(item);
  }
}

void of_container(std::set<PodReference>& out, const Json& container) {
  each(container, {"env"}, [&](const Json& env) {
    add_at(out, "secrets", env, {"valueFrom", "secretKeyRef", "name"});
    add_at(out, "configmaps", env, {"valueFrom", "configMapKeyRef", "name"});
  });
  each(container, {"envFrom"}, [&](const Json& from) {
    add_at(out, "secrets", from, {"secretRef", "name"});
    add_at(out, "configmaps", from, {"configMapRef", "name"});
  });
}

void of_volume(std::set<PodReference>& out, const Json& volume) {
  add_at(out, "secrets", volume, {"secret", "secretName"});
  add_at(out, "configmaps", volume, {"configMap", "name"});
  each(volume, {"projected", "sources"}, [&](const Json& source) {
    add_at(out, "secrets", source, {"secret", "name"});
    add_at(out, "configmaps", source, {"configMap", "name"});
  });
  // Drivers that fetch credentials for a mount.
  for (const std::string_view driver :
       {"csi", "flexVolume", "cephfs", "rbd", "iscsi", "scaleIO", "storageos"}) {
    add_at(out, "secrets", volume, {driver, "nodePublishSecretRef", "name"});
    add_at(out, "secrets", volume, {driver, "secretRef", "name"});
  }
  add_at(out, "secrets", volume, {"azureFile", "secretName"});
}

}  // namespace

std::set<PodReference> references_of(const Json& pod) {
  std::set<PodReference> out;
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    each(pod, {"spec", list}, [&](const Json& container) { of_container(out, container); });
  }
  each(pod, {"spec", "volumes"}, [&](const Json& volume) { of_volume(out, volume); });
  for (const PodClaim& one : pod_claims(pod)) add(out, "persistentvolumeclaims", one.claim);
  each(pod, {"spec", "imagePullSecrets"},
       [&](const Json& secret) { add_at(out, "secrets", secret, {"name"}); });
  add_at(out, "serviceaccounts", pod, {"spec", "serviceAccountName"});
  return out;
}

std::set<std::string> NodeGraph::nodes_referring(std::string_view resource,
                                                 std::string_view name_space,
                                                 std::string_view name) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> out;
  const bool current = history_.catch_up(
      started_,
      [this] {
        pods_.clear();
        index_.clear();
      },
      [this](const ObjectChange& change) { apply(change); });
  if (!current) return out;
  const auto found =
      index_.find(std::tuple(std::string(resource), std::string(name_space), std::string(name)));
  if (found == index_.end()) return out;
  for (const auto& [node, pods] : found->second) out.insert(node);
  return out;
}

void NodeGraph::apply(const ObjectChange& change) const {
  const std::pair key(change.object->name_space(), change.object->name());
  if (const auto before = pods_.find(key); before != pods_.end()) {
    count(key.first, before->second, -1);
    pods_.erase(before);
  }
  if (change.gone) return;
  const std::shared_ptr<const Json> document = change.object->document();
  const std::string node = text_at(*document, {"spec", "nodeName"});
  if (node.empty()) return;
  const Entry& entry = pods_.emplace(key, Entry{node, references_of(*document)}).first->second;
  count(key.first, entry, 1);
}

void NodeGraph::count(const std::string& name_space, const Entry& entry, int by) const {
  for (const PodReference& reference : entry.references) {
    auto& nodes = index_[{reference.resource, name_space, reference.name}];
    if ((nodes[entry.node] += by) == 0) nodes.erase(entry.node);
    if (nodes.empty()) index_.erase({reference.resource, name_space, reference.name});
  }
}

}  // namespace krater::api
