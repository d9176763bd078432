#include "api/machinery/validate.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "api/machinery/limits.h"
#include "base/quantity.h"
#include "base/time.h"

namespace krater::api {
namespace {

// apiextensions' names of JSON types.
std::string_view type_word(NodeType type) {
  switch (type) {
    case NodeType::Object:
      return "object";
    case NodeType::Array:
      return "array";
    case NodeType::String:
      return "string";
    case NodeType::Integer:
      return "integer";
    case NodeType::Number:
      return "number";
    case NodeType::Boolean:
      return "boolean";
    case NodeType::IntOrString:
    case NodeType::Quantity:
      return "integer,string";
    case NodeType::Any:
      return "any";
  }
  return {};
}

std::string_view value_word(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_double()) return "number";
  return value.is_null() ? "null" : "integer";
}

bool has_type(const SchemaNode& node, const Json& value) {
  switch (node.type) {
    case NodeType::Any:
      return true;
    case NodeType::Object:
      return value.is_object();
    case NodeType::Array:
      return value.is_array();
    case NodeType::String:
      return value.is_string();
    case NodeType::Integer:
      return value.is_number() && as_int(value).has_value();
    case NodeType::Number:
      return value.is_number();
    case NodeType::Boolean:
      return value.is_bool();
    case NodeType::IntOrString:
      return value.is_string() || (value.is_number() && as_int(value).has_value());
    case NodeType::Quantity:
      return value.is_string() || value.is_number();
  }
  return false;
}

class Validator {
 public:
  explicit Validator(FieldErrors& errors) : errors_(errors) {}

  void walk(const SchemaNode& node, bool native, const Json& value, const Json* old,
            const FieldPath& path) {
    if (!has_type(node, value)) return wrong_type(node, value, path);
    // A limit of a shared type is not in the published schema of a custom kind.
    const bool limits_hold = native || !node.shared_native;
    if (limits_hold) check_limits(node, native, value, path, errors_);
    if (!native) check_format(node, value, path);
    if (value.is_object()) object(node, native, value.get_object(), old, path);
    if (value.is_array()) list(node, native, value.get_array(), path);
    if (!limits_hold) return;
    for (ValidationRule rule : node.rules) rule({value, old, path, native}, errors_);
  }

  void members(const SchemaNode& node, bool native, const JsonObject& value,
               const JsonObject& before, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (const Property* property = node.property(name))
        member(*property, native, value, &before, FieldPath());
    }
  }

 private:
  void member(const Property& property, bool native, const JsonObject& value,
              const JsonObject* before, const FieldPath& path) {
    const Json* now = value.if_contains(property.name);
    const Json* was = before == nullptr ? nullptr : before->if_contains(property.name);
    const bool typed = native || property.node->type_name == "meta/v1.ObjectMeta";
    if (property.immutable && typed && before != nullptr) immutable(property, now, was, path);
    if (now == nullptr || (now->is_null() && property.nullable)) return;
    const FieldPath here = path.field(property.name);
    walk(*property.node, typed, *now, was, here);
    if (typed && property.name_rule != nullptr) check_name(property, *now, here);
  }

  void wrong_type(const SchemaNode& node, const Json& value, const FieldPath& path) {
    const std::string_view word = value_word(value);
    errors_.invalid_type(path, word,
                         fmt::format("{} in body must be of type {}: \"{}\"", path.text(),
                                     type_word(node.type), word));
  }

  void check_format(const SchemaNode& node, const Json& value, const FieldPath& path) {
    if (node.type == NodeType::Quantity) {
      const std::string written =
          value.is_string() ? std::string(view(value.get_string())) : to_json(value);
      if (auto parsed = Quantity::parse(written); !parsed)
        errors_.invalid(path, value, parsed.error().message);
    }
    // Whoever reads it has 32 bits for it; said as of every custom kind.
    if (const auto number = as_int(value); node.format == ValueFormat::Int32 && number &&
                                           (*number > std::numeric_limits<std::int32_t>::max() ||
                                            *number < std::numeric_limits<std::int32_t>::min())) {
      errors_.append({{"FieldValueInvalid",
                       "Invalid value: \"\": Checked value must be of type integer with format "
                       "int32 in " +
                           path.text(),
                       "<nil>"}});
    }
    if (node.format == ValueFormat::DateTime && value.is_string() &&
        !parse_rfc3339(view(value.get_string()))) {
      errors_.invalid(path, value,
                      path.text() + " in body must be of type date-time: " + to_json(value));
    }
  }

  void object(const SchemaNode& node, bool native, const JsonObject& value, const Json* old,
              const FieldPath& path) {
    const JsonObject* before = old == nullptr ? nullptr : old->if_object();
    if (node.is_map()) {
      for (const auto& entry : value) {
        walk(*node.values, native, entry.value(), nullptr, path.key(std::string_view(entry.key())));
      }
      return;
    }
    require(node.required, native, value, path);
    if (native) require(node.native_required, native, value, path);
    for (const Property& property : node.properties) member(property, native, value, before, path);
  }

  // Native fields that are empty count as missing, as they do in the original types.
  void require(const std::vector<std::string>& names, bool native, const JsonObject& value,
               const FieldPath& path) {
    for (const std::string& name : names) {
      const Json* present = value.if_contains(name);
      const bool empty = present == nullptr ||
                         (native && ((present->is_string() && present->get_string().empty()) ||
                                     (present->is_array() && present->get_array().empty())));
      if (empty) errors_.required(path.field(name));
    }
  }

  void immutable(const Property& property, const Json* now, const Json* was,
                 const FieldPath& path) {
    if ((now == nullptr) == (was == nullptr) && (now == nullptr || *now == *was)) return;
    errors_.invalid(path.field(property.name), now == nullptr ? Json() : *now,
                    "field is immutable");
  }

  void check_name(const Property& property, const Json& value, const FieldPath& path) {
    std::string text;
    if (value.is_string()) text = view(value.get_string());
    if (value.is_number()) text = to_json(value);
    if (text.empty()) return;  // a missing one is a matter of `required`
    if (const std::string problem = property.name_rule(text); !problem.empty())
      errors_.invalid(path, value, problem);
  }

  void list(const SchemaNode& node, bool native, const JsonArray& value, const FieldPath& path) {
    if (node.items == nullptr) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const FieldPath here = path.index(i);
      if (native ? node.native_unique : node.list_is_map || node.list_is_set)
        unique(node, value[i], seen, here);
      walk(*node.items, native, value[i], nullptr, here);
    }
  }

  // Items are told apart by their keys (equal port numbers of unlike protocols are two items);
  // items that lack all keys are a matter of `required`.
  void unique(const SchemaNode& node, const Json& item, std::set<std::string>& seen,
              const FieldPath& path) {
    Json key = item;
    if (node.list_is_map) {
      if (!item.is_object()) return;
      JsonObject keys;
      for (const std::string& name : node.map_keys) {
        if (const Json* part = item.get_object().if_contains(name)) keys.emplace(name, *part);
      }
      if (keys.empty()) return;
      key = std::move(keys);
    }
    if (seen.insert(to_json(key)).second) return;
    // A single key is named itself, as hand-written validation does.
    if (node.list_is_map && node.map_keys.size() == 1) {
      errors_.duplicate(path.field(node.map_keys[0]), key.as_object().begin()->value());
    } else {
      errors_.duplicate(path, key);
    }
  }

  FieldErrors& errors_;
};

}  // namespace

void validate_object(const SchemaNode& node, bool native, const Json& object, const Json* old,
                     FieldErrors& errors) {
  Validator(errors).walk(node, native, object, old, FieldPath());
}

void validate_members(const SchemaNode& node, bool native, const Json& object, const Json& old,
                      std::initializer_list<std::string_view> changed, FieldErrors& errors) {
  Validator(errors).members(node, native, object.get_object(), old.get_object(), changed);
  const FieldPath path;
  for (ValidationRule rule : node.rules) rule({object, &old, path, native}, errors);
}

}  // namespace krater::api
