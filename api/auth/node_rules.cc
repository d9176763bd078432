#include "api/auth/node_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "model/storage.h"

namespace krater::api {
namespace {

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 3> kRead{"get", "list", "watch"};
constexpr std::array<std::string_view, 3> kWrite{"create", "update", "patch"};
constexpr std::string_view kLeaseNamespace = "kube-node-lease";

// Read by every node: service routing, DNS, admission of static things.
bool readable_by_all(const Attributes& what) {
  if (what.group.empty())
    return one_of(what.resource,
                  std::array<std::string_view, 3>{"services", "endpoints", "namespaces"});
  return (what.group == "discovery.k8s.io" && what.resource == "endpointslices") ||
         (what.group == "scheduling.k8s.io" && what.resource == "priorityclasses") ||
         (what.group == "node.k8s.io" && what.resource == "runtimeclasses") ||
         (what.group == "storage.k8s.io" && what.resource == "csidrivers");
}

// Who asks a node something presents a credential; the node asks about it here.
bool is_review(const Attributes& what) {
  return (what.group == "authentication.k8s.io" && what.resource == "tokenreviews") ||
         (what.group == "authorization.k8s.io" && (what.resource == "subjectaccessreviews" ||
                                                   what.resource == "localsubjectaccessreviews"));
}

std::string no_relationship(const AskingNode& scope) {
  return "no relationship found between node '" + scope.name() + "' and this object";
}

bool is_event(const Attributes& what) {
  return what.resource == "events" && (what.group.empty() || what.group == "events.k8s.io");
}

}  // namespace

Authorizer::Verdict NodeRules::decide(const AskingNode& scope, const Attributes& what) const {
  if (readable_by_all(what)) return {one_of(what.verb, kRead)};
  if (is_event(what)) return {one_of(what.verb, kWrite)};
  if (is_review(what)) return {what.verb == "create"};
  if (what.group == "storage.k8s.io" && what.resource == "csinodes")
    return on_csi_node(scope, what);
  if (what.group == "coordination.k8s.io" && what.resource == "leases")
    return on_lease(scope, what);
  // Renewing its certificate; what is asked for is judged by whoever approves it.
  if (what.group == "certificates.k8s.io" && what.resource == "certificatesigningrequests" &&
      what.subresource.empty())
    return {what.verb == "create" || one_of(what.verb, kRead)};
  if (!what.group.empty()) return {false, "no rule of the node authorizer allows it"};
  if (what.resource == "nodes") return on_node(scope, what);
  if (what.resource == "pods") return on_pod(scope, what);
  if (what.resource == "persistentvolumes") return on_volume(scope, what);
  if (what.resource == "secrets" || what.resource == "configmaps" ||
      what.resource == "persistentvolumeclaims")
    return on_referenced(scope, what);
  if (what.resource == "serviceaccounts") return on_service_account(scope, what);
  return {false, "no rule of the node authorizer allows it"};
}

Authorizer::Verdict NodeRules::on_node(const AskingNode& scope, const Attributes& what) const {
  if (!what.subresource.empty() && what.subresource != "status") return {};
  if (what.subresource.empty() && what.verb == "create") return {true};  // of whom: NodeRestriction
  if (scope.pool() && one_of(what.verb, kRead)) return {true};
  if (scope.contains(what.name)) return {one_of(what.verb, kRead) || one_of(what.verb, kWrite)};
  if (!one_of(what.verb, kRead)) return {};
  return {false, what.name.empty()
                     ? "node '" + scope.name() + "' cannot read all nodes, only its own Node object"
                     : "node '" + scope.name() + "' cannot read '" + what.name +
                           "', only its own Node object"};
}

Authorizer::Verdict NodeRules::on_pod(const AskingNode& scope, const Attributes& what) const {
  if (what.verb == "list" || what.verb == "watch") {
    if (scope.pool() || scope.contains(what.pinned_node)) return {true};
    // Of a pod by its name too: it may come to be another node's.
    return {false, "can only list/watch pods with spec.nodeName field selector"};
  }
  if (what.name.empty()) return {false, "node may not create or delete pods as a collection"};
  const Result<ObjectPtr> pod = lookup_(kinds::kPod, what.name_space, what.name);
  // An absent pod is answered as absent, not as forbidden: the node learns that it may clean up.
  if (!pod)
    return {one_of(what.verb, kRead) || what.verb == "delete" || what.subresource == "status"};
  if (!scope.contains(text_at(*(*pod)->document(), {"spec", "nodeName"})))
    return {false, "the pod is not bound to this node"};
  if (what.subresource == "status")
    return {one_of(what.verb, std::array<std::string_view, 3>{"get", "update", "patch"})};
  if (what.subresource == "eviction") return {what.verb == "create"};
  if (!what.subresource.empty()) return {false, "no rule of the node authorizer allows it"};
  return {one_of(what.verb, kRead) || what.verb == "delete"};
}

Authorizer::Verdict NodeRules::on_lease(const AskingNode& scope, const Attributes& what) const {
  if (what.name_space != kLeaseNamespace)
    return {false, "can only access leases in the \"kube-node-lease\" system namespace"};
  if (what.verb == "create") return {true};  // of whose: NodeRestriction
  if (scope.pool() && (what.verb == "list" || what.verb == "watch")) return {true};
  if (!scope.contains(what.name))
    return {false, "can only access node lease with the same name as the requesting node"};
  return {what.verb == "get" || what.verb == "delete" || one_of(what.verb, kWrite) ||
          what.verb == "watch" || what.verb == "list"};
}

Authorizer::Verdict NodeRules::on_csi_node(const AskingNode& scope, const Attributes& what) const {
  if (what.verb != "get" && what.verb != "delete" && !one_of(what.verb, kWrite))
    return {false, "can only get, create, update, patch, or delete a CSINode"};
  if (!what.subresource.empty()) return {false, "cannot authorize CSINode subresources"};
  if (what.verb == "create" || scope.contains(what.name)) return {true};
  return {false, "can only access CSINode with the same name as the requesting node"};
}

Authorizer::Verdict NodeRules::on_referenced(const AskingNode& scope,
                                             const Attributes& what) const {
  if (!one_of(what.verb, kRead)) return {false, "can only read resources of this type"};
  if (!what.subresource.empty()) return {false, "cannot read subresource"};
  if (what.name_space.empty()) return {false, "can only read namespaced object of this type"};
  if (what.name.empty()) return {false, "No Object name found"};
  if (referenced(scope, what.resource, what)) return {true};
  return {false, no_relationship(scope)};
}

// Volumes of claims that its pods use, and those whose directories it keeps; these it also marks.
Authorizer::Verdict NodeRules::on_volume(const AskingNode& scope, const Attributes& what) const {
  if (what.name.empty() || !what.subresource.empty())
    return {false, "can only access individual volumes"};
  const Result<ObjectPtr> found = lookup_(kinds::kPersistentVolume, "", what.name);
  if (!found) return {what.verb == "get"};
  const PersistentVolumeView volume(*found);
  const bool kept = scope.contains(volume.annotation(keys::kVolumeNode));
  if (what.verb == "patch") return {kept};
  if (what.verb != "get") return {false, "can only read and mark volumes"};
  if (kept) return {true};
  const std::set<std::string> nodes = graph_.nodes_referring(
      "persistentvolumeclaims", volume.claim_namespace(), volume.claim_name());
  const bool used = std::any_of(nodes.begin(), nodes.end(),
                                [&](const std::string& node) { return scope.contains(node); });
  return {used, used ? "" : no_relationship(scope)};
}

Authorizer::Verdict NodeRules::on_service_account(const AskingNode& scope,
                                                  const Attributes& what) const {
  const bool token = what.subresource == "token" && what.verb == "create";
  if (!token && !(what.subresource.empty() && what.verb == "get"))
    return {false, "can only create tokens for individual service accounts"};
  if (referenced(scope, "serviceaccounts", what)) return {true};
  return {false, no_relationship(scope)};
}

bool NodeRules::referenced(const AskingNode& scope, std::string_view resource,
                           const Attributes& what) const {
  const std::set<std::string> nodes = graph_.nodes_referring(resource, what.name_space, what.name);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return scope.contains(node); });
}

}  // namespace krater::api
