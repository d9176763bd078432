// Which writes a policy or a binding is about: matchConstraints and matchResources.
#pragma once

#include "api/policy/policies.h"

namespace krater::api {

// `constraints`: a MatchResources; nullptr or without resourceRules matches every resource (as a
// binding's does). An Error is a selector that cannot be read.
Result<bool> matches(const Json* constraints, const PolicyRequest& request,
                     const ObjectReader& reader);

}  // namespace krater::api
