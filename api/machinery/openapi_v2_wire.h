// The OpenAPI v2 document in protobuf, as clients before v3 (kubectl up to 1.26, `explain
// -o plaintext-openapiv2`, lists in files) read it: the messages of openapi.v2 by gnostic.
#pragma once

#include <string>

#include "base/json.h"

namespace krater::api {

// `document` is Swagger 2.0 as this server makes it. What the messages have no field for is left
// out; keys that start with "x-" are vendor extensions.
std::string openapi_v2_wire(const Json& document);

}  // namespace krater::api
