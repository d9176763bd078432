// The last word before a write goes to the store: ValidatingAdmissionPolicies, and whether policies
// and their bindings themselves are sound.
#pragma once

#include "api/registry/prepare.h"

namespace krater::api {

Result<void> review(const client::Write& write, Change& change, const PrepareInput& in);

}  // namespace krater::api
