#include "api/machinery/type_table.h"

#include <algorithm>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/check.h"

namespace krater::api {
namespace {

NodeType node_type(const Json& schema) {
  if (bool_at(schema, {"x-kubernetes-int-or-string"}).value_or(false)) {
    return text_at(schema, {"format"}) == "quantity" ? NodeType::Quantity : NodeType::IntOrString;
  }
  const std::string type = text_at(schema, {"type"});
  if (type == "object") return NodeType::Object;
  if (type == "array") return NodeType::Array;
  if (type == "string") return NodeType::String;
  if (type == "integer") return NodeType::Integer;
  if (type == "number") return NodeType::Number;
  if (type == "boolean") return NodeType::Boolean;
  CHECK_MSG(type.empty(), type);
  return NodeType::Any;
}

ValueFormat node_format(const Json& schema) {
  const std::string format = text_at(schema, {"format"});
  if (format == "int32") return ValueFormat::Int32;
  if (format == "int64") return ValueFormat::Int64;
  if (format == "byte") return ValueFormat::Byte;
  if (format == "date-time") return ValueFormat::DateTime;
  if (format == "micro-time") return ValueFormat::MicroTime;
  return ValueFormat::None;
}

std::vector<std::string> strings(const Json& schema, std::string_view key) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(schema, {key})) {
    for (const Json& item : *list) out.emplace_back(view(item.as_string()));
  }
  return out;
}

std::optional<double> number(const Json& schema, std::string_view key) {
  const Json* value = find(schema, {key});
  if (value == nullptr) return std::nullopt;
  return value->to_number<double>();
}

bool has_limits(const Json& schema) {
  for (std::string_view key : {"enum", "minimum", "maximum", "minLength", "maxLength", "minItems",
                               "maxItems", "pattern"}) {
    if (find(schema, {key}) != nullptr) return true;
  }
  return false;
}

std::unique_ptr<const Limits> make_limits(const Json& schema) {
  auto limits = std::make_unique<Limits>();
  limits->values = strings(schema, "enum");
  std::sort(limits->values.begin(), limits->values.end());
  limits->minimum = number(schema, "minimum");
  limits->maximum = number(schema, "maximum");
  limits->min_length = int_at(schema, {"minLength"});
  limits->max_length = int_at(schema, {"maxLength"});
  limits->min_items = int_at(schema, {"minItems"});
  limits->max_items = int_at(schema, {"maxItems"});
  limits->range = text_at(schema, {"x-krater-range"});
  limits->pattern_text = text_at(schema, {"pattern"});
  if (!limits->pattern_text.empty()) {
    limits->pattern = std::make_unique<re2::RE2>(limits->pattern_text, re2::RE2::Quiet);
    CHECK_MSG(limits->pattern->ok(), limits->pattern_text);
  }
  return limits;
}

Presence presence(const Json& schema) {
  const std::string text = text_at(schema, {"x-krater-presence"});
  if (text == "pointer") return Presence::Pointer;
  if (text == "always") return Presence::Always;
  CHECK_MSG(text.empty(), text);
  return Presence::Omit;
}

bool is_plain_scalar(const Json& schema, NodeType type) {
  return type != NodeType::Object && type != NodeType::Array && !has_limits(schema) &&
         find(schema, {"x-krater-rules"}) == nullptr &&
         find(schema, {"x-kubernetes-preserve-unknown-fields"}) == nullptr;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void TypeTable::add_document(const Json& document) {
  const std::string package = text_at(document, {"package"});
  const bool native = bool_at(document, {"native"}).value_or(false);
  for (const auto& entry : *object_at(document, {"types"})) {
    sources_.emplace(package + "." + std::string(entry.key()), Source{&entry.value(), native});
  }
}

const SchemaNode* TypeTable::find(std::string_view full_name) {
  if (auto at = built_.find(full_name); at != built_.end()) return at->second;
  auto source = sources_.find(full_name);
  if (source == sources_.end()) return nullptr;
  SchemaNode& node = nodes_.emplace_back();
  built_.emplace(full_name, &node);
  node.type_name = full_name;
  fill(node, *source->second.schema, source->second.native);
  return &node;
}

const SchemaNode* TypeTable::scalar(NodeType type, ValueFormat format) {
  const SchemaNode*& node = scalars_[{type, format}];
  if (node == nullptr) {
    SchemaNode& made = nodes_.emplace_back();
    made.type = type;
    made.format = format;
    node = &made;
  }
  return node;
}

const SchemaNode* TypeTable::build(const Json& schema, bool native) {
  if (const auto ref = string_at(schema, {"$ref"})) {
    const SchemaNode* target = find(*ref);
    CHECK_MSG(target != nullptr, *ref);
    return target;
  }
  const NodeType type = node_type(schema);
  if (is_plain_scalar(schema, type)) return scalar(type, node_format(schema));
  SchemaNode& node = nodes_.emplace_back();
  fill(node, schema, native);
  return &node;
}

void TypeTable::fill(SchemaNode& node, const Json& schema, bool native) {
  node.type = node_type(schema);
  node.format = node_format(schema);
  node.shared_native = native;
  node.preserve_unknown = bool_at(schema, {"x-kubernetes-preserve-unknown-fields"}).value_or(false);
  node.wrapped_list = bool_at(schema, {"x-krater-proto-list"}).value_or(false);
  node.required = strings(schema, "required");
  node.native_required = strings(schema, "x-krater-required");
  node.map_keys = strings(schema, "x-kubernetes-list-map-keys");
  node.list_is_map = text_at(schema, {"x-kubernetes-list-type"}) == "map";
  node.list_is_set = text_at(schema, {"x-kubernetes-list-type"}) == "set";
  node.map_is_atomic = text_at(schema, {"x-kubernetes-map-type"}) == "atomic";
  node.native_unique = bool_at(schema, {"x-krater-unique"}).value_or(false);
  node.merge_key = text_at(schema, {"x-kubernetes-patch-merge-key"});
  const std::string strategy = text_at(schema, {"x-kubernetes-patch-strategy"});
  node.patch_merge = strategy.find("merge") != std::string::npos;
  node.patch_retain_keys = strategy.find("retainKeys") != std::string::npos;
  for (const std::string& name : strings(schema, "x-krater-rules")) {
    node.rules.push_back(find_validation_rule(name));
    CHECK_MSG(node.rules.back() != nullptr, name);
  }
  for (const std::string& name : strings(schema, "x-krater-default")) {
    node.default_rules.push_back(find_default_rule(name));
    CHECK_MSG(node.default_rules.back() != nullptr, name);
  }
  if (has_limits(schema)) node.limits = make_limits(schema);
  if (const Json* items = krater::find(schema, {"items"})) node.items = build(*items, native);
  if (node.type == NodeType::Object) fill_object(node, schema, native);
}

void TypeTable::fill_object(SchemaNode& node, const Json& schema, bool native) {
  if (const Json* values = krater::find(schema, {"additionalProperties"}))
    node.values = build(*values, native);
  if (const JsonObject* properties = object_at(schema, {"properties"})) {
    node.properties.reserve(properties->size());
    for (const auto& entry : *properties) {
      node.properties.push_back(
          make_property(std::string_view(entry.key()), entry.value(), native));
    }
  }
  if (const JsonArray* inlined = array_at(schema, {"x-krater-inline"})) {
    for (const Json& message : *inlined) inline_message(node, message);
  }
  std::sort(node.properties.begin(), node.properties.end(),
            [](const Property& a, const Property& b) { return a.name < b.name; });
}

Property TypeTable::make_property(std::string_view name, const Json& schema, bool native) {
  Property property;
  property.name = name;
  property.node = build(schema, native);
  property.proto = static_cast<int>(int_at(schema, {"x-krater-proto"}).value_or(0));
  property.presence = presence(schema);
  property.default_in_crd = !native || bool_at(schema, {"x-krater-crd-default"}).value_or(false);
  property.nullable = bool_at(schema, {"nullable"}).value_or(false);
  property.immutable = bool_at(schema, {"x-krater-immutable"}).value_or(false);
  property.embedded = bool_at(schema, {"x-kubernetes-embedded-resource"}).value_or(false);
  if (const Json* value = krater::find(schema, {"default"})) {
    property.default_value = std::make_shared<const Json>(*value);
  }
  if (const std::string rule = text_at(schema, {"x-krater-name-rule"}); !rule.empty()) {
    property.name_rule = find_name_rule(rule);
    CHECK_MSG(property.name_rule != nullptr, rule);
  }
  return property;
}

void TypeTable::inline_message(SchemaNode& node, const Json& inlined) {
  const SchemaNode* message = find(text_at(inlined, {"$ref"}));
  CHECK(message != nullptr);
  node.inlined.push_back({static_cast<int>(*int_at(inlined, {"x-krater-proto"})), message});
  for (Property property : message->properties) {
    property.proto = 0;
    node.properties.push_back(std::move(property));
  }
  append(node.required, message->required);
  append(node.native_required, message->native_required);
  node.rules.insert(node.rules.end(), message->rules.begin(), message->rules.end());
  node.default_rules.insert(node.default_rules.end(), message->default_rules.begin(),
                            message->default_rules.end());
}

}  // namespace krater::api
