// Defaults and canonical forms. Both work in place on documents whose types have been checked.
#pragma once

#include "api/machinery/schema_node.h"

namespace krater::api {

// Literal defaults go in where a field is absent, parents first; then the rules of each node,
// children first. In custom kinds (`native` false) only those defaults hold that their published
// schema has.
void default_object(const SchemaNode& node, bool native, Json& object);

// Quantities as canonical text, times as the server writes them. Custom kinds keep what was
// written.
void canonicalize_object(const SchemaNode& node, bool native, Json& object);

}  // namespace krater::api
