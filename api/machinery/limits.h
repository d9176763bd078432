// Minimum, maximum, lengths, patterns and enumerations of one value.
#pragma once

#include "api/machinery/field_errors.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

// Native kinds are worded as their hand-written validation, custom kinds as OpenAPI validation.
void check_limits(const SchemaNode& node, bool native, const Json& value, const FieldPath& path,
                  FieldErrors& errors);

}  // namespace krater::api
