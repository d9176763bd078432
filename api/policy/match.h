// Which writes a policy or a binding is about: matchConstraints and matchResources.
#pragma once

#include "api/policy/policies.h"

namespace krater::api {

// As an AdmissionReview writes it: "CREATE".
std::string_view name_of(Operation operation);

// `constraints`: a MatchResources; nullptr or without resourceRules matches every resource (as a
// binding's does). An Error is a selector that cannot be read.
Result<bool> matches(const Json* constraints, const PolicyRequest& request,
                     const ObjectReader& reader);

}  // namespace krater::api
