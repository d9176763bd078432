// Schemas of users' kinds in protobuf: some of their fields are one thing or another in JSON and a
// message with a field for each on the wire.
#pragma once

#include <string_view>

#include "api/machinery/schema_node.h"

namespace krater::api {

enum class SchemaUnion {
  None,
  SchemaOrList,     // {1: schema, 2: list of schemas}; lists are not structural
  SchemaOrBool,     // {1: bool, 2: schema}
  SchemaOrStrings,  // {1: schema, 2: strings}; never structural
};

// `node`: the type that has the field.
inline SchemaUnion union_of(const SchemaNode& node, std::string_view field) {
  if (node.type_name != "apiextensions/v1.JSONSchemaProps") return SchemaUnion::None;
  if (field == "items") return SchemaUnion::SchemaOrList;
  if (field == "additionalProperties" || field == "additionalItems")
    return SchemaUnion::SchemaOrBool;
  return field == "dependencies" ? SchemaUnion::SchemaOrStrings : SchemaUnion::None;
}

}  // namespace krater::api
