// What a namespace may be said to be.
#pragma once

#include "api/admission/admission.h"

namespace krater::api {

// Active until it is deleted, Terminating from then on.
void validate_namespace(const Admission& admission, Causes& causes);

}  // namespace krater::api
