// Roles and bindings by whom they concern. Kept current object by object; not thread safe.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/auth/authorizer.h"
#include "api/auth/history.h"
#include "api/auth/identity.h"

namespace krater::api {

// A role that somebody holds, and through which binding: for the reason of a verdict.
struct Grant {
  std::string binding_kind, binding;  // "ClusterRoleBinding", its name
  std::string role_kind, role;
  std::string subject;  // `User "alice"`
  const std::vector<PolicyRule>* rules;
};

class RbacIndex {
 public:
  void clear();
  // Of the four RBAC kinds; others are ignored.
  void apply(const ObjectChange& change);

  // Every grant that counts in `name_space` ("": at the cluster scope), cluster-wide ones first,
  // until `visit` answers true. A binding whose role is absent grants nothing.
  void for_each_grant(const Identity& who, std::string_view name_space,
                      const std::function<bool(const Grant&)>& visit) const;

 private:
  using Place = std::pair<std::string, std::string>;  // namespace ("": cluster scope), name
  struct Binding {
    std::string role_kind, role;
    std::set<std::string> subjects;  // as in by_subject_
  };
  // nullptr when absent. A Role needs its namespace, a ClusterRole has none.
  const std::vector<PolicyRule>* role(std::string_view name_space, std::string_view name) const;
  void take_out(const Place& place);
  void put_in(const Place& place, const Json& binding);
  bool visit_bindings(const std::string& subject, const std::string& name_space,
                      const std::function<bool(const Grant&)>& visit) const;

  std::map<Place, std::vector<PolicyRule>> roles_;
  std::map<Place, Binding> bindings_;
  // `User "alice"` -> namespace -> names of bindings
  std::map<std::string, std::map<std::string, std::set<std::string>>> by_subject_;
};

}  // namespace krater::api
