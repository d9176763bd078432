// A Service that becomes one of another type leaves behind what belonged to the old one.
#pragma once

#include "base/json.h"

namespace krater::api {

// Removes from `service` what its type has no use for and the writer did not touch; what he set
// himself is for validation to refuse.
void leave_type_fields(Json& service, const Json& old);

}  // namespace krater::api
