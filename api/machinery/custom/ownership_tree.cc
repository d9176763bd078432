#include "api/machinery/custom/ownership_tree.h"

#include <algorithm>

namespace krater::api {
namespace {

NodeType node_type(const Structural& schema) {
  switch (schema.type) {
    case JsonType::None:
      return schema.int_or_string ? NodeType::IntOrString : NodeType::Any;
    case JsonType::Object:
      return NodeType::Object;
    case JsonType::Array:
      return NodeType::Array;
    case JsonType::String:
      return NodeType::String;
    case JsonType::Integer:
      return NodeType::Integer;
    case JsonType::Number:
      return NodeType::Number;
    case JsonType::Boolean:
      return NodeType::Boolean;
  }
  return NodeType::Any;
}

}  // namespace

OwnershipTree::OwnershipTree(const Structural& schema, const SchemaNode& metadata)
    : metadata_(metadata), root_(build(schema, true)) {}

const SchemaNode* OwnershipTree::build(const Structural& schema, bool whole) {
  SchemaNode& node = nodes_.emplace_back();
  // The root of a definition may say nothing but "keep everything".
  node.type = whole ? NodeType::Object : node_type(schema);
  node.preserve_unknown = schema.preserve_unknown;
  node.list_is_map = schema.list == ListKind::Map;
  node.list_is_set = schema.list == ListKind::Set;
  node.map_keys = schema.map_keys;
  node.map_is_atomic = schema.atomic_map;
  if (schema.items != nullptr) node.items = build(*schema.items, false);
  if (node.type == NodeType::Object) fill_object(node, schema, whole || schema.embedded);
  return &node;
}

void OwnershipTree::fill_object(SchemaNode& node, const Structural& schema, bool whole) {
  if (schema.values != nullptr) {
    node.values = build(*schema.values, false);
    return;
  }
  if (schema.any_values && schema.properties.empty()) {
    node.values = &nodes_.emplace_back();  // of any type
    return;
  }
  node.preserve_unknown = node.preserve_unknown || schema.any_values;
  for (const Structural::Member& member : schema.properties) {
    if (whole && member.name == "metadata") continue;
    Property property;
    property.name = member.name;
    property.node = build(member.schema, false);
    property.nullable = member.schema.nullable;
    property.embedded = member.schema.embedded;
    property.default_in_crd = true;
    property.default_value = member.schema.default_value;
    node.properties.push_back(std::move(property));
  }
  if (!whole) return;
  Property metadata;
  metadata.name = "metadata";
  metadata.node = &metadata_;
  const auto place = std::lower_bound(
      node.properties.begin(), node.properties.end(), metadata.name,
      [](const Property& property, const std::string& name) { return property.name < name; });
  node.properties.insert(place, std::move(metadata));
}

}  // namespace krater::api
