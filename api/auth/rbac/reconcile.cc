#include "api/auth/rbac/reconcile.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/auth/rbac/policy_rule.h"

namespace krater::api {
namespace {

constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

bool is_protected(const Json& object) {
  return text_at(object, {"metadata", "annotations", kAutoUpdate}) == "false";
}

// Labels or annotations that are not there; those that are keep their values.
bool add_missing(Json& object, const Json& expected, std::string_view member) {
  const JsonObject* wanted = object_at(expected, {"metadata", member});
  if (wanted == nullptr) return false;
  bool changed = false;
  for (const auto& entry : *wanted) {
    const std::string_view key(entry.key().data(), entry.key().size());
    if (find(object, {"metadata", member, key}) != nullptr) continue;
    set_path(object, {"metadata", member, key}, entry.value());
    changed = true;
  }
  return changed;
}

JsonArray list_at(const Json& object, JsonPath path) {
  const JsonArray* list = array_at(object, path);
  return list == nullptr ? JsonArray() : *list;
}

// Entries of `wanted` that are not in `held`, appended to it.
bool append_missing(JsonArray& held, const JsonArray& wanted) {
  bool changed = false;
  for (const Json& one : wanted) {
    if (std::find(held.begin(), held.end(), one) != held.end()) continue;
    held.push_back(one);
    changed = true;
  }
  return changed;
}

bool add_rules(Json& role, const Json& expected) {
  const std::vector<PolicyRule> missing = not_covered(rules_of(expected), rules_of(role));
  if (missing.empty()) return false;
  JsonArray rules = list_at(role, {"rules"});
  for (const PolicyRule& rule : missing) rules.push_back(to_json_value(rule));
  set_path(role, {"rules"}, Json(std::move(rules)));
  return true;
}

bool add_selectors(Json& role, const Json& expected) {
  if (find(expected, {"aggregationRule"}) == nullptr) {
    if (find(role, {"aggregationRule"}) == nullptr) return false;
    erase_path(role, {"aggregationRule"});  // it was never meant to collect
    return true;
  }
  JsonArray selectors = list_at(role, {"aggregationRule", "clusterRoleSelectors"});
  if (!append_missing(selectors, list_at(expected, {"aggregationRule", "clusterRoleSelectors"})))
    return false;
  set_path(role, {"aggregationRule", "clusterRoleSelectors"}, Json(std::move(selectors)));
  return true;
}

}  // namespace

std::optional<Reconciled> reconciled_role(const Json& existing, const Json& expected) {
  if (is_protected(existing)) return std::nullopt;
  Reconciled out{existing};
  bool changed = add_missing(out.object, expected, "annotations");
  changed = add_missing(out.object, expected, "labels") || changed;
  changed = add_rules(out.object, expected) || changed;
  changed = add_selectors(out.object, expected) || changed;
  if (!changed) return std::nullopt;
  return out;
}

std::optional<Reconciled> reconciled_binding(const Json& existing, const Json& expected) {
  if (is_protected(existing)) return std::nullopt;
  if (*find(existing, {"roleRef"}) != *find(expected, {"roleRef"}))
    return Reconciled{expected, true};
  Reconciled out{existing};
  bool changed = add_missing(out.object, expected, "annotations");
  changed = add_missing(out.object, expected, "labels") || changed;
  JsonArray subjects = list_at(existing, {"subjects"});
  if (append_missing(subjects, list_at(expected, {"subjects"}))) {
    set_path(out.object, {"subjects"}, Json(std::move(subjects)));
    changed = true;
  }
  if (!changed) return std::nullopt;
  return out;
}

}  // namespace krater::api
