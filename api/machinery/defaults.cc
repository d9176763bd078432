#include "api/machinery/defaults.h"

#include "base/quantity.h"
#include "base/time.h"

namespace krater::api {
namespace {

// Calls `visit(child node, child value)` for whatever of `value` has a schema.
template <typename Visit>
void for_each_child(const SchemaNode& node, Json& value, Visit visit) {
  if (JsonObject* object = value.if_object(); object != nullptr && node.type == NodeType::Object) {
    for (auto& entry : *object) {
      if (node.is_map()) {
        visit(*node.values, entry.value());
      } else if (const Property* property = node.property(std::string_view(entry.key()))) {
        visit(*property->node, entry.value());
      }
    }
  } else if (JsonArray* array = value.if_array();
             array != nullptr && node.type == NodeType::Array && node.items != nullptr) {
    for (Json& item : *array) visit(*node.items, item);
  }
}

void apply_literals(const SchemaNode& node, bool native, JsonObject& object) {
  for (const Property& property : node.properties) {
    if (property.default_value == nullptr || (!native && !property.default_in_crd)) continue;
    if (const Json* present = object.if_contains(property.name); present == nullptr) {
      object.emplace(property.name, *property.default_value);
    }
  }
}

void canonical_time(Json& value, ValueFormat format) {
  const auto time = parse_rfc3339(view(value.get_string()));
  if (!time) return;
  value = format == ValueFormat::MicroTime ? to_rfc3339_micro(*time) : to_rfc3339(*time);
}

void canonical_quantity(Json& value) {
  const std::string written =
      value.is_string() ? std::string(view(value.get_string())) : to_json(value);
  if (auto quantity = Quantity::parse(written)) value = quantity->text();
}

}  // namespace

void default_object(const SchemaNode& node, bool native, Json& object) {
  JsonObject* fields =
      node.type == NodeType::Object && !node.is_map() ? object.if_object() : nullptr;
  if (fields != nullptr) apply_literals(node, native, *fields);
  for_each_child(node, object, [native](const SchemaNode& child, Json& value) {
    default_object(child, native, value);
  });
  if (fields == nullptr || !native) return;
  for (DefaultRule rule : node.default_rules) rule(*fields);
}

void canonicalize_object(const SchemaNode& node, bool native, Json& object) {
  if (!native) return;
  if (node.type == NodeType::Quantity) return canonical_quantity(object);
  if (object.is_string() && (node.format == ValueFormat::DateTime || node.format == ValueFormat::MicroTime)) {
    return canonical_time(object, node.format);
  }
  for_each_child(node, object, [](const SchemaNode& child, Json& value) {
    canonicalize_object(child, true, value);
  });
}

}  // namespace krater::api
