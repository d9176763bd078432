// Roles and bindings: what their schemas cannot say.
#include <algorithm>

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

bool has_any(const Json& value, std::string_view field) {
  const JsonArray* list = array_at(value, {field});
  return list != nullptr && !list->empty();
}

void check_role_ref(const RuleInput& in, FieldErrors& errors, std::vector<std::string> kinds) {
  const FieldPath path = in.path.field("roleRef");
  const Json* ref = find(in.value, {"roleRef"});
  if (ref == nullptr) return;  // the schema has said so
  if (const std::string group = text_at(*ref, {"apiGroup"}); group != kGroup)
    errors.unsupported(path.field("apiGroup"), group, {std::string(kGroup)});
  const std::string kind = text_at(*ref, {"kind"});
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    errors.unsupported(path.field("kind"), kind, kinds);
  const std::string name = text_at(*ref, {"name"});
  if (name.empty()) errors.required(path.field("name"));
  for (const std::string_view part : {"/", "%"}) {
    if (name.find(part) != std::string::npos)
      errors.invalid(path.field("name"), Json(name), "may not contain '" + std::string(part) + "'");
  }
  const Json* before = in.old == nullptr ? nullptr : find(*in.old, {"roleRef"});
  if (before != nullptr && *before != *ref) errors.invalid(path, *ref, "cannot change roleRef");
}

}  // namespace

void policy_rule(const RuleInput& in, FieldErrors& errors) {
  if (!has_any(in.value, "verbs"))
    errors.required(in.path.field("verbs"), "verbs must contain at least one value");
  if (has_any(in.value, "nonResourceURLs")) {
    if (has_any(in.value, "apiGroups") || has_any(in.value, "resources") ||
        has_any(in.value, "resourceNames")) {
      errors.invalid(in.path.field("nonResourceURLs"), *find(in.value, {"nonResourceURLs"}),
                     "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (!has_any(in.value, "apiGroups"))
    errors.required(in.path.field("apiGroups"),
                    "resource rules must supply at least one api group");
  if (!has_any(in.value, "resources"))
    errors.required(in.path.field("resources"), "resource rules must supply at least one resource");
}

void role(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* rules = array_at(in.value, {"rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    if (!has_any((*rules)[i], "nonResourceURLs")) continue;
    errors.invalid(in.path.field("rules").index(i).field("nonResourceURLs"),
                   *find((*rules)[i], {"nonResourceURLs"}),
                   "namespaced rules cannot apply to non-resource URLs");
  }
}

void rbac_subject(const RuleInput& in, FieldErrors& errors) {
  const std::string kind = text_at(in.value, {"kind"});
  const std::string group = text_at(in.value, {"apiGroup"});
  if (text_at(in.value, {"name"}).empty()) errors.required(in.path.field("name"));
  if (kind == "ServiceAccount") {
    if (!group.empty()) errors.unsupported(in.path.field("apiGroup"), group, {""});
  } else if (kind == "User" || kind == "Group") {
    if (group != kGroup)
      errors.unsupported(in.path.field("apiGroup"), group, {std::string(kGroup)});
  } else {
    errors.unsupported(in.path.field("kind"), kind, {"ServiceAccount", "User", "Group"});
  }
}

void role_binding(const RuleInput& in, FieldErrors& errors) {
  check_role_ref(in, errors, {"Role", "ClusterRole"});
}

void cluster_role_binding(const RuleInput& in, FieldErrors& errors) {
  check_role_ref(in, errors, {"ClusterRole"});
  // In a namespaced binding it is the binding's own where none is named.
  const JsonArray* subjects = array_at(in.value, {"subjects"});
  for (std::size_t i = 0; subjects != nullptr && i < subjects->size(); ++i) {
    if (text_at((*subjects)[i], {"kind"}) == "ServiceAccount" &&
        text_at((*subjects)[i], {"namespace"}).empty())
      errors.required(in.path.field("subjects").index(i).field("namespace"));
  }
}

void default_rbac_subject(JsonObject& subject) {
  const Json* kind = subject.if_contains("kind");
  if (kind == nullptr || !kind->is_string()) return;
  const std::string_view what = view(kind->get_string());
  const Json* group = subject.if_contains("apiGroup");
  const bool unset = group == nullptr || (group->is_string() && group->get_string().empty());
  if (unset && (what == "User" || what == "Group")) subject["apiGroup"] = kGroup;
}

}  // namespace krater::api::rules
