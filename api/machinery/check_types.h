// Types of the values in a document, reported as Go's JSON decoder reports them, since that is what
// users know.
#pragma once

#include "api/machinery/schema_node.h"
#include "base/result.h"

namespace krater::api {

// Code::BadRequest for the first value of a wrong type. `native` false: only metadata is looked at;
// the rest of a custom object is the validator's.
Result<void> check_object_types(const SchemaNode& node, bool native, const Json& object);

// "[]v1.Container", "map[string]string", "int32": the Go type of a node.
std::string go_type(const SchemaNode& node);

}  // namespace krater::api
