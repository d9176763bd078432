#include "api/auth/rbac/rbac_index.h"

#include "api/auth/rbac/policy_rule.h"
#include "base/go_quote.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

std::string subject_key(std::string_view kind, std::string_view name) {
  return std::string(kind) + " " + go_quoted(name);
}

// A service account is the user its tokens speak for; one without a namespace is of the binding's.
std::string key_of_subject(const Json& subject, std::string_view binding_space) {
  const std::string kind = text_at(subject, {"kind"});
  const std::string name = text_at(subject, {"name"});
  if (kind != "ServiceAccount") return subject_key(kind, name);
  std::string space = text_at(subject, {"namespace"});
  if (space.empty()) space = binding_space;
  return subject_key("User", std::string(kServiceAccountPrefix) + space + ":" + name);
}

}  // namespace

void RbacIndex::clear() {
  roles_.clear();
  bindings_.clear();
  by_subject_.clear();
}

void RbacIndex::apply(const ObjectChange& change) {
  const Place place(change.object->name_space(), change.object->name());
  const std::string& kind = change.object->kind();
  if (kind == kinds::kRole.kind || kind == kinds::kClusterRole.kind) {
    roles_.erase(place);
    if (!change.gone) roles_.emplace(place, rules_of(*change.object->document()));
  } else if (kind == kinds::kRoleBinding.kind || kind == kinds::kClusterRoleBinding.kind) {
    take_out(place);
    if (!change.gone) put_in(place, *change.object->document());
  }
}

void RbacIndex::take_out(const Place& place) {
  const auto found = bindings_.find(place);
  if (found == bindings_.end()) return;
  for (const std::string& subject : found->second.subjects) {
    auto& spaces = by_subject_[subject];
    spaces[place.first].erase(place.second);
    if (spaces[place.first].empty()) spaces.erase(place.first);
    if (spaces.empty()) by_subject_.erase(subject);
  }
  bindings_.erase(found);
}

void RbacIndex::put_in(const Place& place, const Json& binding) {
  Binding& entry = bindings_[place];
  entry.role_kind = text_at(binding, {"roleRef", "kind"});
  entry.role = text_at(binding, {"roleRef", "name"});
  const JsonArray* subjects = array_at(binding, {"subjects"});
  for (std::size_t i = 0; subjects != nullptr && i < subjects->size(); ++i) {
    const std::string key = key_of_subject((*subjects)[i], place.first);
    entry.subjects.insert(key);
    by_subject_[key][place.first].insert(place.second);
  }
}

const std::vector<PolicyRule>* RbacIndex::role(std::string_view name_space,
                                               std::string_view name) const {
  const auto found = roles_.find(Place(name_space, name));
  return found == roles_.end() ? nullptr : &found->second;
}

bool RbacIndex::visit_bindings(const std::string& subject, const std::string& name_space,
                               const std::function<bool(const Grant&)>& visit) const {
  const auto spaces = by_subject_.find(subject);
  if (spaces == by_subject_.end()) return false;
  const auto names = spaces->second.find(name_space);
  if (names == spaces->second.end()) return false;
  for (const std::string& name : names->second) {
    const Binding& binding = bindings_.at({name_space, name});
    const bool cluster_role = binding.role_kind == "ClusterRole";
    const std::vector<PolicyRule>* rules = role(cluster_role ? "" : name_space, binding.role);
    if (rules == nullptr) continue;
    const Grant grant{name_space.empty() ? "ClusterRoleBinding" : "RoleBinding",
                      name_space.empty() ? name : name + "/" + name_space,
                      binding.role_kind,
                      binding.role,
                      subject,
                      rules};
    if (visit(grant)) return true;
  }
  return false;
}

void RbacIndex::for_each_grant(const Identity& who, std::string_view name_space,
                               const std::function<bool(const Grant&)>& visit) const {
  std::vector<std::string> subjects{subject_key("User", who.user)};
  for (const std::string& group : who.groups) subjects.push_back(subject_key("Group", group));
  for (const std::string& subject : subjects) {
    if (visit_bindings(subject, "", visit)) return;
  }
  if (name_space.empty()) return;
  for (const std::string& subject : subjects) {
    if (visit_bindings(subject, std::string(name_space), visit)) return;
  }
}

}  // namespace krater::api
