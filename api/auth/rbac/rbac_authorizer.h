// Role based access: the union of what all bindings grant, nothing is ever denied. Mirrors
// Kubernetes' RBAC authorizer and the escalation checks of its role storage. Any thread (one lock).
#pragma once

#include <memory>

#include "api/auth/authorizer.h"
#include "api/auth/history.h"

namespace krater::api {

// What `first` allows, and what roles and bindings grant. `objects`: the history of Roles,
// ClusterRoles, RoleBindings and ClusterRoleBindings. While they cannot be read only `first`
// counts.
std::unique_ptr<Authorizer> make_rbac_authorizer(std::unique_ptr<Authorizer> first,
                                                 History objects);

// Nobody hands out more than he has. `object`: a role or binding as it would be stored, `old` what
// is there (nullptr: nothing); any other kind passes. Code::Forbidden names what is missing. The
// verbs `escalate` (on roles) and `bind` (on the role that is bound) lift it.
Result<void> check_escalation(const Authorizer& authorizer, const Identity& who, const Kind& kind,
                              const Json& object, const Json* old, const ObjectLookup& lookup);

}  // namespace krater::api
