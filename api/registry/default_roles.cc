#include "api/registry/default_roles.h"

#include <array>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

// Words separated by blanks; "-" stands for the core group. No groups: `things` are paths.
struct Rule {
  std::string_view groups, things, verbs;
};

struct Role {
  std::string_view name;
  std::vector<Rule> rules{};
  std::string_view label{};       // rbac.authorization.k8s.io/<label>: "true"
  std::string_view aggregates{};  // takes over the rules of roles with that label
};

struct Binding {
  std::string_view role;
  std::vector<std::string_view> groups;
};

constexpr std::string_view kLabelPrefix = "rbac.authorization.k8s.io/";
constexpr std::string_view kRead = "get list watch";
constexpr std::string_view kWrite = "create delete deletecollection patch update";

std::vector<Rule> view_rules() {
  return {{"-",
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
           "configmaps endpoints events persistentvolumeclaims replicationcontrollers "
           "replicationcontrollers/scale secrets serviceaccounts services services/proxy",
           kWrite},
          {"apps",
           "daemonsets deployments deployments/rollback deployments/scale replicasets "
           "replicasets/scale statefulsets statefulsets/scale",
           kWrite},
          {"autoscaling", "horizontalpodautoscalers", kWrite},
          {"batch", "cronjobs jobs", kWrite},
          {"networking.k8s.io", "ingresses networkpolicies", kWrite},
          {"policy", "poddisruptionbudgets", kWrite},
          {"ray.io", "raycronjobs rayclusters rayjobs rayservices", kWrite},
          {"scheduling.volcano.sh", "podgroups", kWrite},
          {"batch.volcano.sh", "cronjobs jobs", kWrite},
          {"bus.volcano.sh", "commands", "create delete get list watch"}};
}

std::vector<Role> roles() {
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
       {{"", "/healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*", "get"}}},
      {"system:node-bootstrapper",
       {{"certificates.k8s.io", "certificatesigningrequests", "create get list watch"}}},
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

std::vector<Binding> bindings() {
  return {{"cluster-admin", {"system:masters"}},
          {"system:basic-user", {"system:authenticated"}},
          {"system:discovery", {"system:authenticated"}},
          {"system:monitoring", {"system:monitoring"}},
          {"system:node-bootstrapper", {"system:bootstrappers"}},
          {"system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}}};
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
  Json out = marked(kinds::kClusterRoleBinding, binding.role, "");
  set_path(out, {"roleRef"},
           Json(JsonObject{{"apiGroup", kinds::kClusterRole.group},
                           {"kind", kinds::kClusterRole.kind},
                           {"name", binding.role}}));
  JsonArray subjects;
  for (const std::string_view group : binding.groups) {
    subjects.push_back(
        JsonObject{{"apiGroup", kinds::kClusterRole.group}, {"kind", "Group"}, {"name", group}});
  }
  set_path(out, {"subjects"}, Json(std::move(subjects)));
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
