// One rule of a role: what it allows, and whether others allow as much. Kubernetes' rbac/v1
// PolicyRule. Values, pure; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/auth/authorizer.h"
#include "base/json.h"

namespace krater::api {

// Of a Role or ClusterRole.
std::vector<PolicyRule> rules_of(const Json& role);
Json to_json_value(const PolicyRule& rule);
// As Kubernetes prints it in refusals: {APIGroups:["apps"], Resources:["deployments"],
// Verbs:["get"]}
std::string to_text(const PolicyRule& rule);

// `*` stands for all verbs, groups, resources; `*/sub` for that subresource of all; a path may end
// in `*`. A rule with names allows nothing that has none.
bool allows(const PolicyRule& rule, const Attributes& what);

// What `wanted` would allow and `held` does not, piece by piece: one verb, group and resource each.
std::vector<PolicyRule> not_covered(const std::vector<PolicyRule>& wanted,
                                    const std::vector<PolicyRule>& held);

}  // namespace krater::api
