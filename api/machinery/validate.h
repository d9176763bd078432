// Walks a defaulted document along its schema and collects what is wrong with it.
#pragma once

#include "api/machinery/field_errors.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

// `old`: the stored object on update, nullptr on create. `native` as in prune.h.
void validate_object(const SchemaNode& node, bool native, const Json& object, const Json* old,
                     FieldErrors& errors);

}  // namespace krater::api
