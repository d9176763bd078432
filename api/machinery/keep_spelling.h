// Equal amounts written in other words are no change: "512Mi" and "536870912" are the same memory.
#pragma once

#include "api/machinery/schema_node.h"
#include "base/json.h"

namespace krater::api {

// Quantities of `value` that say the same as those at the same place in `old` take their words.
// Items of lists are matched by their keys where the schema names keys, else by position. For
// objects of native kinds; custom kinds keep quantities as they are written.
void keep_spelling(const SchemaNode& node, Json& value, const Json& old);

}  // namespace krater::api
