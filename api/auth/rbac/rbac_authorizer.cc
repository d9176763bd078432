#include "api/auth/rbac/rbac_authorizer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "api/auth/rbac/policy_rule.h"
#include "api/auth/rbac/rbac_index.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

class RbacAuthorizer final : public Authorizer {
 public:
  RbacAuthorizer(std::unique_ptr<Authorizer> first, History objects)
      : first_(std::move(first)), history_(std::move(objects)) {}

  Verdict decide(const Identity& who, const Attributes& what) const override {
    Verdict verdict = first_->decide(who, what);
    if (verdict.allowed) return verdict;
    const std::lock_guard lock(mutex_);
    if (!catch_up()) return verdict;
    index_.for_each_grant(who, what.name_space, [&](const Grant& grant) {
      const bool allowed = std::any_of(grant.rules->begin(), grant.rules->end(),
                                       [&](const PolicyRule& rule) { return allows(rule, what); });
      if (allowed) {
        verdict = {true, "RBAC: allowed by " + grant.binding_kind + " \"" + grant.binding +
                             "\" of " + grant.role_kind + " \"" + grant.role + "\" to " +
                             grant.subject};
      }
      return allowed;
    });
    return verdict;
  }

  std::vector<PolicyRule> rules(const Identity& who, std::string_view name_space) const override {
    std::vector<PolicyRule> out = first_->rules(who, name_space);
    const std::lock_guard lock(mutex_);
    if (!catch_up()) return out;
    index_.for_each_grant(who, name_space, [&](const Grant& grant) {
      for (const PolicyRule& rule : *grant.rules) {
        if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(rule);
      }
      return false;
    });
    return out;
  }

 private:
  bool catch_up() const {
    return history_.catch_up(
        started_, [this] { index_.clear(); },
        [this](const ObjectChange& change) { index_.apply(change); });
  }

  std::unique_ptr<Authorizer> first_;
  History history_;
  mutable std::mutex mutex_;
  mutable bool started_ = false;
  mutable RbacIndex index_;
};

bool may(const Authorizer& authorizer, const Identity& who, std::string_view verb, const Kind& kind,
         std::string_view name_space, std::string_view name) {
  Attributes what{std::string(verb)};
  what.group = kind.group;
  what.version = kind.version;
  what.resource = kind.plural;
  what.name_space = name_space;
  what.name = name;
  return authorizer.decide(who, what).allowed;
}

std::string groups_text(const Identity& who) {
  std::string out;
  for (const std::string& group : who.groups) out += (out.empty() ? "\"" : " \"") + group + "\"";
  return "[" + out + "]";
}

Result<void> check_held(const Authorizer& authorizer, const Identity& who,
                        std::string_view name_space, const std::vector<PolicyRule>& wanted) {
  const std::vector<PolicyRule> missing = not_covered(wanted, authorizer.rules(who, name_space));
  if (missing.empty()) return {};
  std::string list;
  for (const PolicyRule& rule : missing) list += "\n" + to_text(rule);
  return make_error(Code::Forbidden,
                    "user \"" + who.user + "\" (groups=" + groups_text(who) +
                        ") is attempting to grant RBAC permissions not currently held:" + list);
}

// Both absent, or both there and equal.
bool same_field(const Json& left, const Json* right, std::string_view field) {
  if (right == nullptr) return false;
  const Json* a = find(left, {field});
  const Json* b = find(*right, {field});
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

Result<void> check_role(const Authorizer& authorizer, const Identity& who, const Kind& kind,
                        const Json& role, const Json* old) {
  const std::string space = text_at(role, {"metadata", "namespace"});
  const std::string name = text_at(role, {"metadata", "name"});
  if (may(authorizer, who, "escalate", kind, space, name)) return {};
  // What stays as it is was granted by somebody else.
  if (same_field(role, old, "rules") && same_field(role, old, "aggregationRule")) return {};
  // Whoever lets a role collect rules must hold everything.
  if (find(role, {"aggregationRule"}) != nullptr) {
    const std::vector<PolicyRule> everything{{{"*"}, {"*"}, {"*"}, {}, {}},
                                             {{"*"}, {}, {}, {}, {"*"}}};
    TRY(check_held(authorizer, who, space, everything));
  }
  return check_held(authorizer, who, space, rules_of(role));
}

Result<void> check_binding(const Authorizer& authorizer, const Identity& who, const Json& binding,
                           const Json* old, const ObjectLookup& lookup) {
  if (same_field(binding, old, "subjects")) return {};
  const std::string space = text_at(binding, {"metadata", "namespace"});
  const std::string name = text_at(binding, {"roleRef", "name"});
  const bool cluster_role = text_at(binding, {"roleRef", "kind"}) == "ClusterRole";
  const Kind& kind = cluster_role ? kinds::kClusterRole : kinds::kRole;
  if (may(authorizer, who, "bind", kind, space, name)) return {};
  const Result<ObjectPtr> role = lookup(kind, cluster_role ? "" : space, name);
  if (!role) return make_error(Code::Forbidden, role.error().message);
  return check_held(authorizer, who, space, rules_of(*(*role)->document()));
}

}  // namespace

std::unique_ptr<Authorizer> make_rbac_authorizer(std::unique_ptr<Authorizer> first,
                                                 History objects) {
  return std::make_unique<RbacAuthorizer>(std::move(first), std::move(objects));
}

Result<void> check_escalation(const Authorizer& authorizer, const Identity& who, const Kind& kind,
                              const Json& object, const Json* old, const ObjectLookup& lookup) {
  if (kind == kinds::kRole || kind == kinds::kClusterRole)
    return check_role(authorizer, who, kind, object, old);
  if (kind == kinds::kRoleBinding || kind == kinds::kClusterRoleBinding)
    return check_binding(authorizer, who, object, old, lookup);
  return {};
}

}  // namespace krater::api
