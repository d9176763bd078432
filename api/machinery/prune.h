// Brings a document into the shape the schema knows: unknown fields go (and are reported), and for
// native types null and, where a field is written only when it is not zero, zero values too, as a
// round through the original types does.
#pragma once

#include "api/machinery/schema.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

// `native`: the rules of built-in types instead of those of custom ones. `object` is a whole
// object.
void prune_object(const SchemaNode& node, bool native, Json& object,
                  std::vector<FieldProblem>& problems);

// Whether a built-in type leaves the field out because of this value: zero, an empty list or map.
bool is_omitted_zero(const Property& property, const Json& value);

}  // namespace krater::api
