// Values behind the field labels of fieldSelector. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace krater::api {

// "" when the field is absent; booleans as true/false (absent ones as false where the label is
// boolean).
std::string field_label_value(const Json& object, std::string_view label);

}  // namespace krater::api
