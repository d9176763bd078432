#include "api/machinery/prune.h"

#include "api/machinery/field_path.h"
#include "base/json_members.h"

namespace krater::api {
namespace {

struct Pruner {
  std::vector<FieldProblem>& problems;

  void report(const FieldPath& path) {
    std::string text = path.text();
    std::string message = "unknown field \"" + text + '"';
    problems.push_back({std::move(text), std::move(message)});
  }
  void object(const SchemaNode& node, bool native, bool whole, JsonObject& value,
              const FieldPath& path);
  void map(const SchemaNode& node, bool native, JsonObject& value, const FieldPath& path);
  void list(const SchemaNode& node, bool native, JsonArray& value, const FieldPath& path);
  void walk(const SchemaNode& node, bool native, bool whole, Json& value, const FieldPath& path);
};

bool is_zero(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::string:
      return value.get_string().empty();
    case boost::json::kind::bool_:
      return !value.get_bool();
    case boost::json::kind::int64:
      return value.get_int64() == 0;
    case boost::json::kind::uint64:
      return value.get_uint64() == 0;
    case boost::json::kind::double_:
      return value.get_double() == 0;
    case boost::json::kind::array:
      return value.get_array().empty();
    case boost::json::kind::object:
    case boost::json::kind::null:
      return false;
  }
  return false;
}

void Pruner::object(const SchemaNode& node, bool native, bool whole, JsonObject& value,
                    const FieldPath& path) {
  std::vector<std::string> gone;
  for (auto& entry : value) {
    const std::string_view name = entry.key();
    const FieldPath here = path.field(name);
    const Property* property = node.property(name);
    if (property == nullptr) {
      if (node.preserve_unknown || (whole && (name == "apiVersion" || name == "kind"))) continue;
      report(here);
      gone.emplace_back(name);
      continue;
    }
    if (entry.value().is_null() && !(property->nullable && !native)) {
      gone.emplace_back(name);
      continue;
    }
    // metadata is typed in every kind.
    const bool typed = native || property->node->type_name == "meta/v1.ObjectMeta";
    walk(*property->node, typed, property->embedded, entry.value(), here);
    if (typed && is_omitted_zero(*property, entry.value())) gone.emplace_back(name);
  }
  erase_members(value, gone);
}

void Pruner::map(const SchemaNode& node, bool native, JsonObject& value, const FieldPath& path) {
  std::vector<std::string> gone;
  for (auto& entry : value) {
    if (entry.value().is_null()) {
      if (native && node.values->type == NodeType::String) {
        entry.value() = "";
      } else {
        gone.emplace_back(entry.key());
      }
      continue;
    }
    walk(*node.values, native, false, entry.value(), path.key(std::string_view(entry.key())));
  }
  erase_members(value, gone);
}

void Pruner::list(const SchemaNode& node, bool native, JsonArray& value, const FieldPath& path) {
  if (node.items == nullptr) return;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (native && value[i].is_null()) {
      if (node.items->type == NodeType::Object) value[i] = JsonObject();
      if (node.items->type == NodeType::String) value[i] = "";
    }
    walk(*node.items, native, false, value[i], path.index(i));
  }
}

void Pruner::walk(const SchemaNode& node, bool native, bool whole, Json& value,
                  const FieldPath& path) {
  if (JsonObject* object_value = value.if_object();
      object_value != nullptr && node.type == NodeType::Object) {
    if (node.is_map()) {
      map(node, native, *object_value, path);
    } else {
      object(node, native, whole, *object_value, path);
    }
  } else if (JsonArray* array_value = value.if_array();
             array_value != nullptr && node.type == NodeType::Array) {
    list(node, native, *array_value, path);
  }
}

}  // namespace

bool is_omitted_zero(const Property& property, const Json& value) {
  if (property.presence != Presence::Omit) return false;
  switch (property.node->type) {
    case NodeType::String:
      return value.is_string() && is_zero(value);
    case NodeType::Integer:
    case NodeType::Number:
      return value.is_number() && is_zero(value);
    case NodeType::Boolean:
      return value.is_bool() && is_zero(value);
    case NodeType::Array:
      return value.is_array() && is_zero(value);
    case NodeType::Object:
      return property.node->is_map() && value.is_object() && value.get_object().empty();
    case NodeType::Any:
    case NodeType::IntOrString:
    case NodeType::Quantity:
      return false;
  }
  return false;
}

void prune_object(const SchemaNode& node, bool native, Json& object,
                  std::vector<FieldProblem>& problems) {
  Pruner{problems}.walk(node, native, true, object, FieldPath());
}

}  // namespace krater::api
