#include "api/auth/node_restriction.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/go_quote.h"
#include "base/strings.h"
#include "model/kinds.h"

namespace krater::api {
namespace {

Error refused(const Attributes& what, std::string_view name, const std::string& why) {
  const std::string resource = what.resource + (what.group.empty() ? "" : "." + what.group);
  const std::string subject = name.empty() ? "" : " " + go_quoted(name);
  return make_error(Code::Forbidden, resource + subject + " is forbidden: " + why);
}

// Of a write, whose subject the registry names.
Error because(std::string why) {
  return make_error(Code::Forbidden, std::move(why));
}

std::string node(const AskingNode& scope) {
  return "node " + go_quoted(scope.name());
}

std::string_view namespace_of(std::string_view label) {
  const std::size_t slash = label.find('/');
  return slash == std::string_view::npos ? std::string_view() : label.substr(0, slash);
}

// The domain itself or one below it.
bool within(std::string_view name, std::string_view domain) {
  return name == domain || (name.size() > domain.size() && name.ends_with(domain) &&
                            name[name.size() - domain.size() - 1] == '.');
}

// What kubelets say of themselves.
bool is_node_label(std::string_view label) {
  constexpr std::array<std::string_view, 11> kLabels{"kubernetes.io/hostname",
                                                     "topology.kubernetes.io/zone",
                                                     "topology.kubernetes.io/region",
                                                     "failure-domain.beta.kubernetes.io/zone",
                                                     "failure-domain.beta.kubernetes.io/region",
                                                     "beta.kubernetes.io/instance-type",
                                                     "node.kubernetes.io/instance-type",
                                                     "kubernetes.io/os",
                                                     "kubernetes.io/arch",
                                                     "beta.kubernetes.io/os",
                                                     "beta.kubernetes.io/arch"};
  const std::string_view space = namespace_of(label);
  return std::find(kLabels.begin(), kLabels.end(), label) != kLabels.end() ||
         within(space, "kubelet.kubernetes.io") || within(space, "node.kubernetes.io");
}

bool is_forbidden_label(std::string_view label) {
  const std::string_view space = namespace_of(label);
  if (within(space, "node-restriction.kubernetes.io")) return true;
  return (within(space, "kubernetes.io") || within(space, "k8s.io")) && !is_node_label(label);
}

void collect_changed(const JsonObject* from, const JsonObject* to, std::set<std::string>& out) {
  if (from == nullptr) return;
  for (const auto& entry : *from) {
    const std::string key(entry.key().data(), entry.key().size());
    const auto other = to == nullptr ? nullptr : to->if_contains(entry.key());
    if (other == nullptr || *other != entry.value()) out.insert(key);
  }
}

std::set<std::string> changed_labels(const Json& object, const Json* old) {
  std::set<std::string> out;
  const JsonObject* now = object_at(object, {"metadata", "labels"});
  const JsonObject* before = old == nullptr ? nullptr : object_at(*old, {"metadata", "labels"});
  collect_changed(now, before, out);
  collect_changed(before, now, out);
  return out;
}

std::string forbidden_labels(const Json& object, const Json* old) {
  std::vector<std::string> out;
  for (const std::string& label : changed_labels(object, old)) {
    if (is_forbidden_label(label)) out.push_back(label);
  }
  return join(out, ", ");
}

JsonArray taints_of(const Json& object) {
  const JsonArray* list = array_at(object, {"spec", "taints"});
  return list == nullptr ? JsonArray() : *list;
}

Json owners_of(const Json& object) {
  const JsonArray* owners = array_at(object, {"metadata", "ownerReferences"});
  return owners == nullptr || owners->empty() ? Json() : Json(*owners);
}

Result<void> check_node(const AskingNode& scope, const Attributes& what, std::string_view name,
                        const Json& object, const Json* old) {
  if (!scope.contains(name))
    return because(node(scope) + " is not allowed to modify node " + go_quoted(name));
  // Owners decide over a node's life: a node would be rid of its taints with the next one.
  if (owners_of(object) != (old == nullptr ? Json() : owners_of(*old)))
    return because(node(scope) + " is not allowed to modify ownerReferences");
  const std::string labels = forbidden_labels(object, old);
  if (old == nullptr) {
    if (labels.empty()) return {};
    return because(node(scope) + " is not allowed to set the following labels: " + labels);
  }
  if (taints_of(object) != taints_of(*old))
    return because(node(scope) + " is not allowed to modify taints");
  if (!labels.empty()) return because("is not allowed to modify labels: " + labels);
  return {};
}

Result<void> check_pod(const AskingNode& scope, const Attributes& what, const Json& object,
                       const Json* old) {
  if (what.subresource != "status" || old == nullptr) {
    return because(what.subresource.empty()
                       ? "unexpected operation \"" +
                             std::string(old == nullptr ? "CREATE" : "UPDATE") + "\", " +
                             node(scope) + " can only report the status of pods"
                       : "unexpected pod subresource " + go_quoted(what.subresource) +
                             ", only 'status' and 'eviction' are allowed");
  }
  if (!scope.contains(text_at(*old, {"spec", "nodeName"})))
    return because(node(scope) +
                   " can only update pod status for pods with spec.nodeName set to itself");
  if (!changed_labels(object, old).empty())
    return because(node(scope) + " cannot update labels through pod status");
  return {};
}

constexpr const char* kOwnLease =
    "can only access node lease with the same name as the requesting node";

}  // namespace

Result<void> check_node_write(const AskingNode& scope, const Attributes& what, const Json& object,
                              const Json* old) {
  const std::string name = text_at(object, {"metadata", "name"});
  if (what.group.empty() && what.resource == "nodes")
    return check_node(scope, what, name, object, old);
  if (what.group.empty() && what.resource == "pods") return check_pod(scope, what, object, old);
  if (what.group.empty() && what.resource == "persistentvolumeclaims")
    return because("may only update PVC status");
  if (what.group == "coordination.k8s.io" && what.resource == "leases") {
    if (what.name_space != "kube-node-lease")
      return because("can only access leases in the \"kube-node-lease\" system namespace");
    if (!scope.contains(name)) return because(kOwnLease);
  }
  if (what.group == "storage.k8s.io" && what.resource == "csinodes" && !scope.contains(name))
    return because("can only access CSINode with the same name as the requesting node");
  return {};
}

Result<void> check_node_delete(const AskingNode& scope, const Attributes& what,
                               const ObjectLookup& lookup) {
  if (what.group == "coordination.k8s.io" && what.resource == "leases" &&
      !scope.contains(what.name))
    return refused(what, what.name, kOwnLease);
  if (what.group.empty() && what.resource == "nodes" && !scope.contains(what.name))
    return refused(what, what.name,
                   node(scope) + " is not allowed to modify node " + go_quoted(what.name));
  if (!what.group.empty() || what.resource != "pods") return {};
  TRY_ASSIGN(const ObjectPtr pod, lookup(kinds::kPod, what.name_space, what.name));
  if (scope.contains(text_at(*pod->document(), {"spec", "nodeName"}))) return {};
  return refused(what, what.name,
                 node(scope) + " can only delete pods with spec.nodeName set to itself");
}

Result<void> check_node_token(const AskingNode& scope, const Attributes& what, const Json& request,
                              const ObjectLookup& lookup) {
  const auto wrong = [&](const std::string& why) { return refused(what, what.name, why); };
  const Json none;
  const Json* found = find(request, {"spec", "boundObjectRef"});
  const Json& reference = found == nullptr ? none : *found;
  const std::string pod_name = text_at(reference, {"name"});
  if (text_at(reference, {"apiVersion"}) != "v1" || text_at(reference, {"kind"}) != "Pod" ||
      pod_name.empty())
    return wrong("node requested token not bound to a pod");
  const std::string uid = text_at(reference, {"uid"});
  if (uid.empty()) return wrong("node requested token with a pod binding without a uid");
  TRY_ASSIGN(const ObjectPtr pod, lookup(kinds::kPod, what.name_space, pod_name));
  if (pod->uid().text() != uid)
    return wrong("the UID in the bound object reference (" + uid +
                 ") does not match the UID in record. The object might have been deleted and then "
                 "recreated");
  const std::shared_ptr<const Json> document = pod->document();
  if (!scope.contains(text_at(*document, {"spec", "nodeName"})))
    return wrong("node requested token bound to a pod scheduled on a different node");
  if (text_at(*document, {"spec", "serviceAccountName"}) != what.name)
    return wrong("node requested token for a service account its pod does not use");
  return {};
}

}  // namespace krater::api
