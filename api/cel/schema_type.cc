#include "api/cel/schema_type.h"

#include <algorithm>

#include "api/cel/field_names.h"

namespace krater::cel {
namespace {

constexpr std::int64_t kMinString = 2;
constexpr std::int64_t kMinBool = 4;
constexpr std::int64_t kMinNumber = 1;
constexpr std::int64_t kMinDuration = 3;
constexpr std::int64_t kMinDateTime = 21;
constexpr std::int64_t kDate = 12;
constexpr std::int64_t kMostDateTime = 32;

bool flag(const Json& schema, std::string_view name) {
  return bool_at(schema, {name}).value_or(false);
}

std::optional<std::int64_t> limit(const Json& schema, std::string_view name) {
  const std::optional<std::int64_t> value = int_at(schema, {name});
  if (!value) return std::nullopt;
  return std::max<std::int64_t>(*value, 0);
}

std::shared_ptr<Type> sized(TypeKind kind, std::int64_t least, std::int64_t most) {
  auto out = std::make_shared<Type>();
  out->kind = kind;
  out->min_serialized_size = least;
  out->max_elements = most;
  return out;
}

// Length counts code points; sizes count bytes.
std::int64_t bytes_of(std::int64_t code_points) {
  return code_points > INT64_MAX / 4 ? INT64_MAX : code_points * 4;
}

std::shared_ptr<Type> string_type(const Json& schema) {
  const std::string format = text_at(schema, {"format"});
  const std::optional<std::int64_t> max_length = limit(schema, "maxLength");
  constexpr std::int64_t kUnlimited = kMostRequestBytes - 2;
  if (format == "byte") {
    return sized(TypeKind::Bytes, kMinString, max_length.value_or(kUnlimited));
  }
  if (format == "duration") return sized(TypeKind::Duration, kMinDuration, kMostDateTime);
  if (format == "date-time") return sized(TypeKind::Timestamp, kMinDateTime, kMostDateTime);
  if (format == "date") {
    auto out = sized(TypeKind::Timestamp, kDate, kDate);
    out->form = DataForm::Date;
    return out;
  }
  std::int64_t most = kUnlimited;
  const JsonArray* values = array_at(schema, {"enum"});
  if (max_length) {
    most = bytes_of(*max_length);
  } else if (values != nullptr && !values->empty()) {
    most = 0;
    for (const Json& value : *values) {
      if (value.is_string()) {
        most = std::max(most, static_cast<std::int64_t>(value.get_string().size()));
      }
    }
  }
  return sized(TypeKind::String, kMinString, most);
}

TypePtr unexposed() {
  auto out = std::make_shared<Type>();
  out->form = DataForm::Unexposed;
  return out;
}

std::shared_ptr<Type> array_type(const Json& schema, const std::string& name) {
  const Json* items = find(schema, {"items"});
  if (items == nullptr || !items->is_object()) return nullptr;
  TypePtr item =
      schema_type(*items, flag(*items, "x-kubernetes-embedded-resource"), name + ".@idx");
  if (item == nullptr) return nullptr;
  const std::int64_t fitting = (kMostRequestBytes - 2) / (item->min_serialized_size + 1);
  auto out = sized(TypeKind::List, 2, limit(schema, "maxItems").value_or(fitting));
  out->params.push_back(std::move(item));
  const std::string shape = text_at(schema, {"x-kubernetes-list-type"});
  if (shape == "set") out->shape = ListShape::Set;
  if (shape == "map") {
    out->shape = ListShape::Map;
    const JsonArray* keys = array_at(schema, {"x-kubernetes-list-map-keys"});
    for (const Json& key : keys == nullptr ? JsonArray() : *keys) {
      if (key.is_string()) out->map_keys.emplace_back(view(key.get_string()));
    }
  }
  return out;
}

std::shared_ptr<Type> map_of(const Json& schema, const Json& values, const std::string& name) {
  TypePtr value =
      schema_type(values, flag(values, "x-kubernetes-embedded-resource"), name + ".@elem");
  if (value == nullptr) return nullptr;
  const std::int64_t fitting = (kMostRequestBytes - 2) / (value->min_serialized_size + 6);
  auto out = sized(TypeKind::Map, 2, limit(schema, "maxProperties").value_or(fitting));
  out->params.push_back(sized(TypeKind::String, kMinString, 0));
  out->params.push_back(std::move(value));
  return out;
}

bool is_required(const Json& schema, std::string_view name) {
  const JsonArray* required = array_at(schema, {"required"});
  if (required == nullptr) return false;
  return std::any_of(required->begin(), required->end(), [name](const Json& item) {
    return item.is_string() && view(item.get_string()) == name;
  });
}

std::shared_ptr<Type> object_type(const Json& schema, const std::string& name) {
  if (const Json* values = find(schema, {"additionalProperties"});
      values != nullptr && values->is_object()) {
    return map_of(schema, *values, name);
  }
  auto out = sized(TypeKind::Object, 2, 0);
  out->name = name;
  const JsonObject* properties = object_at(schema, {"properties"});
  if (properties == nullptr) return out;
  for (const auto& entry : *properties) {
    const std::string property(entry.key().data(), entry.key().size());
    const Json& of = entry.value();
    if (!of.is_object()) continue;
    const std::optional<std::string> escaped = escape_field(property);
    TypePtr type = schema_type(of, flag(of, "x-kubernetes-embedded-resource"),
                               name + "." + escaped.value_or(property));
    if (type != nullptr && is_required(schema, property) && find(of, {"default"}) == nullptr) {
      out->min_serialized_size +=
          static_cast<std::int64_t>(property.size()) + type->min_serialized_size + 4;
    }
    const bool exposed = type != nullptr && escaped.has_value();
    // A name that cannot be written keeps its place for comparisons, under one nobody can write.
    out->fields.emplace(escaped.value_or(" " + property),
                        Field{property, type == nullptr ? unexposed() : std::move(type), exposed});
  }
  return out;
}

}  // namespace

Json with_object_meta(const Json& schema) {
  const auto is_string = [&schema](JsonPath path) { return text_at(schema, path) == "string"; };
  if (is_string({"properties", "kind", "type"}) &&
      is_string({"properties", "apiVersion", "type"}) &&
      text_at(schema, {"properties", "metadata", "type"}) == "object" &&
      is_string({"properties", "metadata", "properties", "name", "type"}) &&
      is_string({"properties", "metadata", "properties", "generateName", "type"})) {
    return schema;
  }
  Json out = schema;
  const Json text = JsonObject{{"type", "string"}};
  set_path(out, {"properties", "kind"}, text);
  set_path(out, {"properties", "apiVersion"}, text);
  set_path(out, {"properties", "metadata"},
           JsonObject{{"type", "object"},
                      {"properties", JsonObject{{"name", text}, {"generateName", text}}}});
  return out;
}

TypePtr schema_type(const Json& schema, bool root, const std::string& name) {
  std::shared_ptr<Type> out;
  if (flag(schema, "x-kubernetes-int-or-string")) {
    const std::optional<std::int64_t> max_length = limit(schema, "maxLength");
    out = sized(TypeKind::Dyn, 1, max_length ? bytes_of(*max_length) : kMostRequestBytes - 2);
    out->form = DataForm::IntOrString;
  } else {
    const std::string type = text_at(schema, {"type"});
    if (type == "array") out = array_type(schema, name);
    if (type == "object") {
      out = root ? object_type(with_object_meta(schema), name) : object_type(schema, name);
    }
    if (type == "string") out = string_type(schema);
    if (type == "boolean") out = sized(TypeKind::Bool, kMinBool, 0);
    if (type == "number") out = sized(TypeKind::Double, kMinNumber, 0);
    if (type == "integer") out = sized(TypeKind::Int, kMinNumber, 0);
  }
  if (out != nullptr) out->nullable = flag(schema, "nullable");
  return out;
}

}  // namespace krater::cel
