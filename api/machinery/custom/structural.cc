#include "api/machinery/custom/structural.h"

#include <algorithm>

#include "api/machinery/custom/formats.h"

namespace krater::api {
namespace {

std::vector<std::string> strings(const Json& schema, std::string_view key) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(schema, {key})) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

std::optional<double> number(const Json& schema, std::string_view key) {
  const Json* value = find(schema, {key});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::vector<Structural> schemas(const Json& schema, std::string_view key) {
  std::vector<Structural> out;
  if (const JsonArray* list = array_at(schema, {key})) {
    for (const Json& item : *list) out.push_back(read_structural(item));
  }
  return out;
}

std::unique_ptr<const Structural> below(const Json& schema, std::string_view key) {
  const Json* value = find(schema, {key});
  if (value == nullptr || !value->is_object()) return nullptr;
  return std::make_unique<const Structural>(read_structural(*value));
}

bool has_checks(const Json& schema) {
  constexpr std::string_view kKeys[] = {
      "format",    "enum",          "minimum",  "maximum", "multipleOf", "minLength",
      "maxLength", "minItems",      "maxItems", "pattern", "required",   "minProperties",
      "allOf",     "maxProperties", "anyOf",    "oneOf",   "not"};
  return std::any_of(std::begin(kKeys), std::end(kKeys),
                     [&](std::string_view key) { return find(schema, {key}) != nullptr; });
}

std::unique_ptr<const ValueChecks> read_checks(const Json& schema, JsonType type) {
  auto out = std::make_unique<ValueChecks>();
  out->format = text_at(schema, {"format"});
  if (!is_known_format(type, out->format)) out->format.clear();
  if (const JsonArray* values = array_at(schema, {"enum"}))
    out->values.assign(values->begin(), values->end());
  out->minimum = number(schema, "minimum");
  out->maximum = number(schema, "maximum");
  out->multiple_of = number(schema, "multipleOf");
  out->minimum_excluded = bool_at(schema, {"exclusiveMinimum"}).value_or(false);
  out->maximum_excluded = bool_at(schema, {"exclusiveMaximum"}).value_or(false);
  out->min_length = int_at(schema, {"minLength"});
  out->max_length = int_at(schema, {"maxLength"});
  out->min_items = int_at(schema, {"minItems"});
  out->max_items = int_at(schema, {"maxItems"});
  out->min_properties = int_at(schema, {"minProperties"});
  out->max_properties = int_at(schema, {"maxProperties"});
  out->pattern_text = text_at(schema, {"pattern"});
  if (!out->pattern_text.empty()) {
    auto pattern = std::make_unique<re2::RE2>(out->pattern_text, re2::RE2::Quiet);
    if (pattern->ok()) out->pattern = std::move(pattern);
  }
  out->required = strings(schema, "required");
  out->all_of = schemas(schema, "allOf");
  out->any_of = schemas(schema, "anyOf");
  out->one_of = schemas(schema, "oneOf");
  out->none_of = below(schema, "not");
  return out;
}

void read_extensions(const Json& schema, Structural& out) {
  out.int_or_string = bool_at(schema, {"x-kubernetes-int-or-string"}).value_or(false);
  out.preserve_unknown = bool_at(schema, {"x-kubernetes-preserve-unknown-fields"}).value_or(false);
  out.embedded = bool_at(schema, {"x-kubernetes-embedded-resource"}).value_or(false);
  const std::string list = text_at(schema, {"x-kubernetes-list-type"});
  if (list == "set") out.list = ListKind::Set;
  if (list == "map") out.list = ListKind::Map;
  out.atomic_map = text_at(schema, {"x-kubernetes-map-type"}) == "atomic";
  out.map_keys = strings(schema, "x-kubernetes-list-map-keys");
}

}  // namespace

Structural::Structural() = default;
Structural::~Structural() = default;
Structural::Structural(Structural&&) noexcept = default;
Structural& Structural::operator=(Structural&&) noexcept = default;

const Structural* Structural::property(std::string_view name) const {
  const auto at = std::lower_bound(
      properties.begin(), properties.end(), name,
      [](const Member& member, std::string_view wanted) { return member.name < wanted; });
  return at != properties.end() && at->name == name ? &at->schema : nullptr;
}

std::string_view type_name(JsonType type) {
  switch (type) {
    case JsonType::None:
      return "";
    case JsonType::Object:
      return "object";
    case JsonType::Array:
      return "array";
    case JsonType::String:
      return "string";
    case JsonType::Integer:
      return "integer";
    case JsonType::Number:
      return "number";
    case JsonType::Boolean:
      return "boolean";
  }
  return "";
}

JsonType json_type(std::string_view name) {
  for (const JsonType known : {JsonType::Object, JsonType::Array, JsonType::String,
                               JsonType::Integer, JsonType::Number, JsonType::Boolean}) {
    if (type_name(known) == name) return known;
  }
  return JsonType::None;
}

Structural read_structural(const Json& schema) {
  Structural out;
  out.type = json_type(text_at(schema, {"type"}));
  out.nullable = bool_at(schema, {"nullable"}).value_or(false);
  read_extensions(schema, out);
  if (const Json* value = find(schema, {"default"}); value != nullptr && !value->is_null())
    out.default_value = std::make_shared<const Json>(*value);
  out.items = below(schema, "items");
  out.values = below(schema, "additionalProperties");
  out.any_values = bool_at(schema, {"additionalProperties"}).value_or(false);
  if (const JsonObject* properties = object_at(schema, {"properties"})) {
    out.properties.reserve(properties->size());
    for (const auto& entry : *properties) {
      out.properties.push_back({std::string(entry.key()), read_structural(entry.value())});
    }
    std::sort(out.properties.begin(), out.properties.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  if (has_checks(schema)) out.checks = read_checks(schema, out.type);
  return out;
}

}  // namespace krater::api
