#include "api/registry/default_roles.h"

#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

// Words separated by blanks; "-" stands for the core group. No groups: `things` are paths.
struct Rule {
  std::string_view groups, things, verbs;
  std::string_view names{};
};

struct Role {
  std::string_view name;
  std::vector<Rule> rules{};
  std::string_view label{};       // rbac.authorization.k8s.io/<label>: "true"
  std::string_view aggregates{};  // takes over the rules of roles with that label
};

struct Binding {
  std::string_view name, role;
  std::vector<std::string_view> groups{}, users{};
  std::string_view service_account{};  // of kube-system
};

constexpr std::string_view kLabelPrefix = "rbac.authorization.k8s.io/";
constexpr std::string_view kRead = "get list watch";
constexpr std::string_view kWrite = "create delete deletecollection patch update";

std::vector<Rule> view_rules() {
  return {
      {"-",
       "bindings configmaps endpoints events limitranges namespaces namespaces/status "
       "persistentvolumeclaims persistentvolumeclaims/status pods pods/log pods/status "
       "replicationcontrollers replicationcontrollers/scale replicationcontrollers/status "
       "resourcequotas resourcequotas/status serviceaccounts services services/status",
       kRead},
      {"apps",
       "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
       "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
       "statefulsets/scale statefulsets/status",
       kRead},
      {"autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", kRead},
      {"batch", "cronjobs cronjobs/status jobs jobs/status", kRead},
      {"discovery.k8s.io", "endpointslices", kRead},
      {"events.k8s.io", "events", kRead},
      {"extensions",
       "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses "
       "ingresses/status networkpolicies replicasets replicasets/scale replicasets/status "
       "replicationcontrollers/scale",
       kRead},
      {"networking.k8s.io", "ingresses ingresses/status networkpolicies", kRead},
      {"policy", "poddisruptionbudgets poddisruptionbudgets/status", kRead},
      {"ray.io",
       "raycronjobs raycronjobs/status rayclusters rayclusters/status rayjobs rayjobs/status "
       "rayservices rayservices/status",
       kRead},
      {"scheduling.volcano.sh", "podgroups podgroups/status", kRead},
      {"batch.volcano.sh", "cronjobs cronjobs/status jobs jobs/status", kRead}};
}

std::vector<Rule> edit_rules() {
  return {{"-", "pods/attach pods/exec pods/portforward pods/proxy services/proxy secrets", kRead},
          {"-", "serviceaccounts", "impersonate"},
          {"-", "serviceaccounts/token pods/eviction", "create"},
          {"-", "pods pods/attach pods/exec pods/portforward pods/proxy", kWrite},
          {"-",
           "configmaps events persistentvolumeclaims replicationcontrollers "
           "replicationcontrollers/scale secrets serviceaccounts services services/proxy",
           kWrite},
          {"apps",
           "daemonsets deployments deployments/rollback deployments/scale replicasets "
           "replicasets/scale statefulsets statefulsets/scale",
           kWrite},
          {"autoscaling", "horizontalpodautoscalers", kWrite},
          {"batch", "cronjobs jobs", kWrite},
          {"coordination.k8s.io", "leases",
           "create delete deletecollection get list patch update watch"},
          {"events.k8s.io", "events", kWrite},
          {"extensions",
           "daemonsets deployments deployments/rollback deployments/scale ingresses "
           "networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
           kWrite},
          {"networking.k8s.io", "ingresses networkpolicies", kWrite},
          {"policy", "poddisruptionbudgets", kWrite},
          {"ray.io", "raycronjobs rayclusters rayjobs rayservices", kWrite},
          {"scheduling.volcano.sh", "podgroups", kWrite},
          {"batch.volcano.sh", "cronjobs jobs", kWrite},
          {"bus.volcano.sh", "commands", "create delete get list watch"}};
}

constexpr std::string_view kEventWrite = "create patch update";
constexpr std::string_view kCertificates = "certificates.k8s.io";

// Who asks for certificates, and who lets them be approved.
std::vector<Role> certificate_roles() {
  std::vector<Role> out{{"system:node-bootstrapper",
                         {{kCertificates, "certificatesigningrequests", "create get list watch"}}},
                        {"system:certificates.k8s.io:certificatesigningrequests:nodeclient",
                         {{kCertificates, "certificatesigningrequests/nodeclient", "create"}}},
                        {"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
                         {{kCertificates, "certificatesigningrequests/selfnodeclient", "create"}}}};
  constexpr std::array<std::array<std::string_view, 2>, 4> kApprovers{
      {{"system:certificates.k8s.io:kube-apiserver-client-approver",
        "kubernetes.io/kube-apiserver-client"},
       {"system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
        "kubernetes.io/kube-apiserver-client-kubelet"},
       {"system:certificates.k8s.io:kubelet-serving-approver", "kubernetes.io/kubelet-serving"},
       {"system:certificates.k8s.io:legacy-unknown-approver", "kubernetes.io/legacy-unknown"}}};
  for (const auto& [name, signer] : kApprovers)
    out.push_back({name, {{kCertificates, "signers", "approve", signer}}});
  return out;
}

// For what runs beside the control plane in other clusters, and here as ordinary clients.
std::vector<Role> component_roles() {
  const std::string_view reviews = "authentication.k8s.io";
  const std::string_view access = "authorization.k8s.io";
  const std::string_view storage = "storage.k8s.io";
  const std::string_view coordination = "coordination.k8s.io";
  return {
      {"system:heapster",
       {{"-", "events namespaces nodes pods", kRead}, {"extensions", "deployments", kRead}}},
      {"system:kube-aggregator", {{"-", "endpoints services", kRead}}},
      {"system:kube-dns", {{"-", "endpoints services", "list watch"}}},
      {"system:kube-controller-manager",
       {{"- events.k8s.io", "events", kEventWrite},
        {coordination, "leases", "create"},
        {coordination, "leases", "get update", "kube-controller-manager"},
        {"-", "secrets serviceaccounts", "create update"},
        {"-", "secrets", "delete"},
        {"-", "configmaps namespaces secrets serviceaccounts", "get"},
        {reviews, "tokenreviews", "create"},
        {access, "subjectaccessreviews", "create"},
        {"*", "*", "list watch"},
        {"-", "serviceaccounts/token", "create"}}},
      {"system:kube-scheduler",
       {{"- events.k8s.io", "events", kEventWrite},
        {coordination, "leases", "create"},
        {coordination, "leases", "get list update watch", "kube-scheduler"},
        {coordination, "leasecandidates",
         "create delete deletecollection get list patch update watch"},
        {"-", "nodes", kRead},
        {"-", "pods", "delete get list watch"},
        {"-", "bindings pods/binding", "create"},
        {"-", "pods/finalizers", "update"},
        {"-", "pods/status", "patch update"},
        {"-", "replicationcontrollers services", kRead},
        {"apps extensions", "replicasets", kRead},
        {"apps", "statefulsets", kRead},
        {"policy", "poddisruptionbudgets", kRead},
        {"-", "persistentvolumeclaims persistentvolumes", kRead},
        {reviews, "tokenreviews", "create"},
        {access, "subjectaccessreviews", "create"},
        {storage, "csinodes csidrivers csistoragecapacities volumeattachments", kRead},
        {"-", "namespaces", kRead}}},
      {"system:volume-scheduler",
       {{"-", "persistentvolumes", "get list patch update watch"},
        {storage, "storageclasses", kRead},
        {"-", "persistentvolumeclaims", "get list patch update watch"}}},
      {"system:persistent-volume-provisioner",
       {{"-", "persistentvolumes", "create delete get list watch"},
        {"-", "persistentvolumeclaims", "get list update watch"},
        {storage, "storageclasses", kRead},
        {"-", "events", "watch"},
        {"- events.k8s.io", "events", kEventWrite}}},
      {"system:node-proxier",
       {{"-", "endpoints services", "list watch"},
        {"-", "nodes", kRead},
        {"- events.k8s.io", "events", kEventWrite},
        {"discovery.k8s.io", "endpointslices", "list watch"}}},
      {"system:node-problem-detector",
       {{"-", "nodes", "get"},
        {"-", "nodes/status", "patch"},
        {"- events.k8s.io", "events", kEventWrite}}},
      {"system:kubelet-api-admin",
       {{"-", "nodes", "get list proxy watch"},
        {"-",
         "nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats",
         "*"}}},
      {"system:service-account-issuer-discovery",
       {{"",
         "/.well-known/openid-configuration /.well-known/openid-configuration/ "
         "/openid/v1/jwks /openid/v1/jwks/",
         "get"}}},
  };
}

// Bound to nobody: nodes have what the node authorizer gives them, which is less.
Role node_role() {
  return {"system:node",
          {{"authentication.k8s.io", "tokenreviews", "create"},
           {"authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews", "create"},
           {"-", "services", kRead},
           {"-", "nodes", "create get list watch"},
           {"-", "nodes/status", "patch update"},
           {"-", "nodes", "patch update"},
           {"- events.k8s.io", "events", kEventWrite},
           {"-", "pods", "create delete get list watch"},
           {"-", "pods/status", "patch update"},
           {"-", "pods/eviction", "create"},
           {"-", "configmaps secrets", kRead},
           {"-", "persistentvolumeclaims persistentvolumes", "get"},
           {"-", "endpoints", "get"},
           {kCertificates, "certificatesigningrequests", "create get list watch"},
           {"coordination.k8s.io", "leases", "create delete get patch update"},
           {"storage.k8s.io", "volumeattachments", "get"},
           {"-", "serviceaccounts/token", "create"},
           {"-", "serviceaccounts", "get"},
           {"-", "persistentvolumeclaims/status", "get patch update"},
           {"storage.k8s.io", "csidrivers", kRead},
           {"storage.k8s.io", "csinodes", "create delete get patch update"},
           {"node.k8s.io", "runtimeclasses", kRead}}};
}

std::vector<Role> people_roles() {
  const std::string_view rbac = "rbac.authorization.k8s.io";
  return {
      {"cluster-admin", {{"*", "*", "*"}, {"", "*", "*"}}},
      {"system:discovery",
       {{"",
         "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version "
         "/version/",
         "get"}}},
      {"system:public-info-viewer", {{"", "/healthz /livez /readyz /version /version/", "get"}}},
      {"system:basic-user",
       {{"authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"},
        {"authentication.k8s.io", "selfsubjectreviews", "create"}}},
      {"system:auth-delegator",
       {{"authentication.k8s.io", "tokenreviews", "create"},
        {"authorization.k8s.io", "subjectaccessreviews", "create"}}},
      {"system:monitoring",
       {{"",
         "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* "
         "/statusz",
         "get"},
        {"-", "nodes/metrics", "get"}}},
      {"admin", {}, "", "aggregate-to-admin"},
      {"edit", {}, "aggregate-to-admin", "aggregate-to-edit"},
      {"view", {}, "aggregate-to-edit", "aggregate-to-view"},
      {"system:aggregate-to-admin",
       {{"authorization.k8s.io", "localsubjectaccessreviews", "create"},
        {rbac, "rolebindings roles", "create delete deletecollection get list patch update watch"}},
       "aggregate-to-admin"},
      {"system:aggregate-to-edit", edit_rules(), "aggregate-to-edit"},
      {"system:aggregate-to-view", view_rules(), "aggregate-to-view"},
  };
}

std::vector<Role> roles() {
  std::vector<Role> out = people_roles();
  for (std::vector<Role> more : {certificate_roles(), component_roles()})
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  out.push_back(node_role());
  return out;
}

// The last three as kubeadm makes them: who holds a token for nodes joins, nodes renew.
std::vector<Binding> bindings() {
  constexpr std::string_view node_tokens = "system:bootstrappers:kubeadm:default-node-token";
  constexpr std::string_view approvals = "system:certificates.k8s.io:certificatesigningrequests:";
  static const std::string first = std::string(approvals) + "nodeclient";
  static const std::string renewal = std::string(approvals) + "selfnodeclient";
  const auto same = [](std::string_view name, std::vector<std::string_view> groups,
                       std::vector<std::string_view> users = {}, std::string_view account = "") {
    return Binding{name, name, std::move(groups), std::move(users), account};
  };
  return {same("cluster-admin", {"system:masters"}),
          same("system:basic-user", {"system:authenticated"}),
          same("system:discovery", {"system:authenticated"}),
          same("system:monitoring", {"system:monitoring"}),
          same("system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}),
          same("system:service-account-issuer-discovery", {"system:serviceaccounts"}),
          same("system:kube-controller-manager", {}, {"system:kube-controller-manager"}),
          same("system:kube-dns", {}, {}, "kube-dns"),
          same("system:kube-scheduler", {}, {"system:kube-scheduler"}),
          same("system:volume-scheduler", {}, {"system:kube-scheduler"}),
          same("system:node-proxier", {}, {"system:kube-proxy"}),
          same("system:node", {}),
          {"kubeadm:kubelet-bootstrap", "system:node-bootstrapper", {node_tokens}},
          {"kubeadm:node-autoapprove-bootstrap", first, {node_tokens}},
          {"kubeadm:node-autoapprove-certificate-rotation", renewal, {"system:nodes"}}};
}

JsonArray words(std::string_view text) {
  JsonArray out;
  for (const std::string_view word : split(text, ' ')) out.emplace_back(word == "-" ? "" : word);
  return out;
}

Json marked(const Kind& kind, std::string_view name, std::string_view label) {
  Json out = new_object(kind, "", name);
  set_path(out, {"metadata", "labels", "kubernetes.io/bootstrapping"}, Json("rbac-defaults"));
  if (!label.empty())
    set_path(out, {"metadata", "labels", std::string(kLabelPrefix) + std::string(label)},
             Json("true"));
  set_path(out, {"metadata", "annotations", "rbac.authorization.kubernetes.io/autoupdate"},
           Json("true"));
  return out;
}

Json to_object(const Role& role) {
  Json out = marked(kinds::kClusterRole, role.name, role.label);
  JsonArray rules;
  for (const Rule& rule : role.rules) {
    JsonObject one{{"verbs", words(rule.verbs)}};
    if (rule.groups.empty()) {
      one["nonResourceURLs"] = words(rule.things);
    } else {
      one["apiGroups"] = words(rule.groups);
      one["resources"] = words(rule.things);
      if (!rule.names.empty()) one["resourceNames"] = words(rule.names);
    }
    rules.push_back(std::move(one));
  }
  set_path(out, {"rules"}, Json(std::move(rules)));
  if (!role.aggregates.empty()) {
    const JsonObject labels{{std::string(kLabelPrefix) + std::string(role.aggregates), "true"}};
    set_path(out, {"aggregationRule", "clusterRoleSelectors"},
             Json(JsonArray{JsonObject{{"matchLabels", labels}}}));
  }
  return out;
}

Json to_object(const Binding& binding) {
  Json out = marked(kinds::kClusterRoleBinding, binding.name, "");
  set_path(out, {"roleRef"},
           Json(JsonObject{{"apiGroup", kinds::kClusterRole.group},
                           {"kind", kinds::kClusterRole.kind},
                           {"name", binding.role}}));
  JsonArray subjects;
  const auto add = [&subjects](std::string_view kind, std::string_view name) {
    subjects.push_back(
        JsonObject{{"apiGroup", kinds::kClusterRole.group}, {"kind", kind}, {"name", name}});
  };
  for (const std::string_view group : binding.groups) add("Group", group);
  for (const std::string_view user : binding.users) add("User", user);
  if (!binding.service_account.empty())
    subjects.push_back(JsonObject{{"kind", "ServiceAccount"},
                                  {"name", binding.service_account},
                                  {"namespace", "kube-system"}});
  if (!subjects.empty()) set_path(out, {"subjects"}, Json(std::move(subjects)));
  return out;
}

}  // namespace

std::vector<client::CreateWrite> default_roles() {
  std::vector<client::CreateWrite> out;
  for (const Role& role : roles()) out.push_back({kinds::kClusterRole, "", to_object(role)});
  for (const Binding& binding : bindings())
    out.push_back({kinds::kClusterRoleBinding, "", to_object(binding)});
  return out;
}

}  // namespace krater::api
