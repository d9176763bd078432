// What a volume claim may ask for in its namespace.
#pragma once

#include "api/admission/admission.h"

namespace krater::api {

// A refusal when it asks for less or more than the namespace's limit ranges let a claim ask for.
Result<void> keep_claim_in_limits(const Admission& admission);

}  // namespace krater::api
