// Formats of strings in OpenAPI schemas, as apiextensions-apiserver knows them. Pure.
#pragma once

#include <string_view>

#include "api/machinery/custom/structural.h"

namespace krater::api {

// Whether a format counts for values of this type; all others are ignored.
bool is_known_format(JsonType type, std::string_view format);

// `format` is one that is known for strings.
bool has_format(std::string_view format, std::string_view text);

}  // namespace krater::api
