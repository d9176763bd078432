// What an OpenAPI schema may say at all, and how list and map types go together with types.
#include <algorithm>
#include <iterator>
#include <set>

#include "api/cel/schema_rules.h"
#include "api/machinery/custom/definition_check.h"
#include "api/machinery/custom/structural.h"
#include "base/strings.h"

namespace krater::api {
namespace {

const std::vector<std::string>& known_types() {
  static const std::vector<std::string> types{"array",  "boolean", "integer",
                                              "number", "object",  "string"};
  return types;
}

// Keys the root may have when the status part must stand for itself.
constexpr std::string_view kAllowedAtRoot[] = {"description",
                                               "type",
                                               "format",
                                               "title",
                                               "maximum",
                                               "exclusiveMaximum",
                                               "minimum",
                                               "exclusiveMinimum",
                                               "maxLength",
                                               "minLength",
                                               "pattern",
                                               "maxItems",
                                               "minItems",
                                               "uniqueItems",
                                               "multipleOf",
                                               "required",
                                               "items",
                                               "properties",
                                               "externalDocs",
                                               "example",
                                               "x-kubernetes-preserve-unknown-fields",
                                               "x-kubernetes-validations"};
constexpr std::string_view kAllowedAtRootText =
    "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
    "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties "
    "ExternalDocs Example XPreserveUnknownFields XValidations]";

bool has_line_break(std::string_view text) {
  return text.find_first_of("\r\n") != std::string_view::npos;
}

// What holds for everything below a node.
struct Context {
  bool defaults = true;
  std::string_view why_not;  // no defaults
  bool inside_meta = false;
};

class Checker {
 public:
  explicit Checker(FieldErrors& errors) : errors_(errors) {}

  void schema(const Json& schema, const FieldPath& path, bool root, const Context& context) {
    keywords(schema, path, context);
    values(schema, path, context);
    properties(schema, path, root, context);
    for (const std::string_view junctor : {"allOf", "oneOf", "anyOf"}) {
      const JsonArray* parts = array_at(schema, {junctor});
      if (parts == nullptr) continue;
      const FieldPath all = path.field(junctor);
      for (std::size_t i = 0; i < parts->size(); ++i)
        this->schema((*parts)[i], all.index(i), false, context);
    }
    for (const std::string_view key : {"not", "items"}) {
      if (const Json* below = find(schema, {key}); below != nullptr && below->is_object())
        this->schema(*below, path.field(key), false, context);
    }
    map_type(schema, path);
    list_type(schema, path);
    list_keys(schema, path);
    if (const JsonArray* rules = array_at(schema, {"x-kubernetes-validations"}))
      this->rules(*rules, path);
  }

 private:
  void forbid(const Json& schema, std::string_view key, const FieldPath& path,
              std::string_view why) {
    const Json* value = find(schema, {key});
    const bool nothing = value == nullptr || value->is_null() ||
                         (value->is_string() && value->get_string().empty()) ||
                         (value->is_object() && value->get_object().empty());
    if (!nothing) errors_.forbidden(path.field(key), why);
  }

  void keywords(const Json& schema, const FieldPath& path, const Context& context) {
    const std::string type = text_at(schema, {"type"});
    const auto& known = known_types();
    if (!type.empty() && std::find(known.begin(), known.end(), type) == known.end())
      errors_.unsupported(path.field("type"), type, known);
    if (find(schema, {"default"}) != nullptr && !context.defaults) {
      errors_.forbidden(path.field("default"),
                        context.why_not.empty()
                            ? "must not be set"
                            : "must not be set " + std::string(context.why_not));
    }
    forbid(schema, "id", path, "id is not supported");
    forbid(schema, "additionalItems", path, "additionalItems is not supported");
    forbid(schema, "patternProperties", path, "patternProperties is not supported");
    forbid(schema, "definitions", path, "definitions is not supported");
    forbid(schema, "dependencies", path, "dependencies is not supported");
    forbid(schema, "$ref", path, "$ref is not supported");
    if (type == "null") {
      errors_.forbidden(path.field("type"),
                        "type cannot be set to null, use nullable as an alternative");
    }
    if (context.inside_meta &&
        bool_at(schema, {"x-kubernetes-embedded-resource"}).value_or(false)) {
      errors_.forbidden(path.field("x-kubernetes-embedded-resource"),
                        "must not be used inside of resource meta");
    }
    if (bool_at(schema, {"uniqueItems"}).value_or(false)) {
      errors_.forbidden(path.field("uniqueItems"),
                        "uniqueItems cannot be set to true since the runtime complexity becomes "
                        "quadratic");
    }
    if (bool_at(schema, {"x-kubernetes-preserve-unknown-fields"}) == false) {
      errors_.invalid(path.field("x-kubernetes-preserve-unknown-fields"), Json(false),
                      "must be true or undefined");
    }
  }

  void values(const Json& schema, const FieldPath& path, const Context& context) {
    const Json* values = find(schema, {"additionalProperties"});
    if (values == nullptr) return;
    const JsonObject* properties = object_at(schema, {"properties"});
    const bool open = values->is_bool() && values->get_bool();
    if (properties != nullptr && !properties->empty() && !open) {
      errors_.forbidden(path.field("additionalProperties"),
                        "additionalProperties and properties are mutual exclusive");
    }
    if (!values->is_object()) return;
    Context inner = context;
    if (context.inside_meta) {
      inner.defaults = false;
      inner.why_not = "inside additionalProperties applying to object metadata";
    }
    this->schema(*values, path.field("additionalProperties"), false, inner);
  }

  void properties(const Json& schema, const FieldPath& path, bool root, const Context& context) {
    const JsonObject* properties = object_at(schema, {"properties"});
    if (properties == nullptr) return;
    const FieldPath all = path.field("properties");
    const bool whole = root || bool_at(schema, {"x-kubernetes-embedded-resource"}).value_or(false);
    for (const auto& entry : *properties) {
      const std::string_view name(entry.key().data(), entry.key().size());
      Context inner = context;
      if (whole && (name == "metadata" || name == "kind" || name == "apiVersion")) {
        inner.inside_meta = true;
        if (root) {
          inner.defaults = false;
          inner.why_not = name == "metadata" ? "in top-level metadata"
                          : name == "kind"   ? "in top-level kind"
                                             : "in top-level apiVersion";
        }
      }
      this->schema(entry.value(), all.key(name), false, inner);
    }
  }

  void typed_extension(const Json& schema, std::string_view extension, std::string_view type,
                       const FieldPath& path) {
    const std::string found = text_at(schema, {"type"});
    const std::string why =
        "must be " + std::string(type) + " if " + std::string(extension) + " is specified";
    if (found.empty())
      errors_.required(path.field("type"), why);
    else
      errors_.invalid(path.field("type"), Json(found), why);
  }

  void map_type(const Json& schema, const FieldPath& path) {
    constexpr std::string_view kKey = "x-kubernetes-map-type";
    const auto kind = string_at(schema, {kKey});
    if (!kind) return;
    if (text_at(schema, {"type"}) != "object") typed_extension(schema, kKey, "object", path);
    if (*kind != "atomic" && *kind != "granular")
      errors_.unsupported(path.field(kKey), *kind, {"atomic", "granular"});
  }

  void list_type(const Json& schema, const FieldPath& path) {
    constexpr std::string_view kKey = "x-kubernetes-list-type";
    const auto kind = string_at(schema, {kKey});
    if (!kind) return;
    const Json* items = find(schema, {"items"});
    if (text_at(schema, {"type"}) != "array") {
      typed_extension(schema, kKey, "array", path);
    } else if (*kind == "set" && items != nullptr) {
      set_items(*items, path.field("items"));
    }
    if (*kind != "atomic" && *kind != "set" && *kind != "map")
      errors_.unsupported(path.field(kKey), *kind, {"atomic", "set", "map"});
  }

  void set_items(const Json& items, const FieldPath& path) {
    constexpr std::string_view kWhy =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    const std::string type = text_at(items, {"type"});
    const std::string list = text_at(items, {"x-kubernetes-list-type"});
    const std::string map = text_at(items, {"x-kubernetes-map-type"});
    if (type == "array" && !list.empty() && list != "atomic")
      errors_.invalid(path.field("x-kubernetes-list-type"), Json(list), kWhy);
    if (type == "object" && map != "atomic") {
      errors_.invalid(path.field("x-kubernetes-map-type"), map.empty() ? Json() : Json(map), kWhy);
    }
  }

  void list_keys(const Json& schema, const FieldPath& path) {
    const std::string kind = text_at(schema, {"x-kubernetes-list-type"});
    const JsonArray* keys = array_at(schema, {"x-kubernetes-list-map-keys"});
    const FieldPath here = path.field("x-kubernetes-list-map-keys");
    if (keys != nullptr && !keys->empty() && kind != "map") {
      constexpr std::string_view kWhy = "must be map if x-kubernetes-list-map-keys is non-empty";
      if (kind.empty())
        errors_.required(path.field("x-kubernetes-list-type"), kWhy);
      else
        errors_.invalid(path.field("x-kubernetes-list-type"), Json(kind), kWhy);
    }
    const Json* items = find(schema, {"items"});
    if ((kind == "map" || kind == "set") && items != nullptr &&
        bool_at(*items, {"nullable"}).value_or(false)) {
      const FieldPath of_items = path.field("items");
      errors_.forbidden(of_items.field("nullable"),
                        "cannot be nullable when x-kubernetes-list-type is " + kind);
    }
    if (kind != "map") return;
    if (keys == nullptr || keys->empty())
      errors_.required(here, "must not be empty if x-kubernetes-list-type is map");
    if (items == nullptr) {
      return errors_.required(path.field("items"),
                              "must have a schema if x-kubernetes-list-type is map");
    }
    const FieldPath of_items = path.field("items");
    if (text_at(*items, {"type"}) != "object") {
      return errors_.invalid(of_items.field("type"), Json(text_at(*items, {"type"})),
                             "must be object if parent array's x-kubernetes-list-type is map");
    }
    if (keys != nullptr) map_keys(*keys, *items, here, of_items);
  }

  void map_keys(const JsonArray& keys, const Json& items, const FieldPath& here,
                const FieldPath& of_items) {
    std::set<std::string> seen;
    const FieldPath properties = of_items.field("properties");
    for (const Json& key : keys) {
      const std::string name = key.is_string() ? std::string(view(key.get_string())) : "";
      const Json* property = find(items, {"properties", name});
      const FieldPath at = properties.key(name);
      const std::string type = property == nullptr ? "" : text_at(*property, {"type"});
      if (property == nullptr) {
        errors_.invalid(here, Json(keys), "entries must all be names of item properties");
      } else if (type == "array" || type == "object") {
        errors_.invalid(at.field("type"), Json(text_at(items, {"type"})),
                        "must be a scalar type if parent array's x-kubernetes-list-type is map");
      }
      if (!seen.insert(name).second)
        errors_.invalid(here, Json(keys), "must not contain duplicate entries");
      if (property == nullptr) continue;
      const JsonArray* required = array_at(items, {"required"});
      const bool needed = required != nullptr &&
                          std::find(required->begin(), required->end(), key) != required->end();
      if (!needed && find(*property, {"default"}) == nullptr) {
        errors_.required(at.field("default"),
                         "this property is in x-kubernetes-list-map-keys, so it must have a "
                         "default or be a required property");
      }
      if (bool_at(*property, {"nullable"}).value_or(false)) {
        errors_.forbidden(at.field("nullable"),
                          "this property is in x-kubernetes-list-map-keys, so it cannot be "
                          "nullable");
      }
    }
  }

  void rules(const JsonArray& rules, const FieldPath& path) {
    const FieldPath all = path.field("x-kubernetes-validations");
    for (std::size_t i = 0; i < rules.size(); ++i) rule(rules[i], all.index(i));
  }

  void rule(const Json& rule, const FieldPath& path) {
    const std::string text = text_at(rule, {"rule"}), message = text_at(rule, {"message"});
    const std::string expression = text_at(rule, {"messageExpression"});
    const std::string field = text_at(rule, {"fieldPath"});
    const std::string reason = text_at(rule, {"reason"});
    if (trim(text).empty()) {
      errors_.required(path.field("rule"), "rule is not specified");
    } else if (!message.empty() && trim(message).empty()) {
      errors_.invalid(path.field("message"), Json(message), "must be non-empty if specified");
    } else if (has_line_break(trim(message))) {
      errors_.invalid(path.field("message"), Json(message), "must not contain line breaks");
    } else if (has_line_break(trim(text)) && trim(message).empty()) {
      errors_.required(path.field("message"),
                       "message must be specified if rule contains line breaks");
    }
    if (!expression.empty() && trim(expression).empty()) {
      errors_.required(path.field("messageExpression"),
                       "messageExpression must be non-empty if specified");
    }
    static const std::vector<std::string> reasons{"FieldValueDuplicate", "FieldValueForbidden",
                                                  "FieldValueInvalid", "FieldValueRequired"};
    if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      errors_.unsupported(path.field("reason"), reason, reasons);
    if (!field.empty() && trim(field).empty())
      errors_.invalid(path.field("fieldPath"), Json(field), "must be non-empty if specified");
    if (has_line_break(field))
      errors_.invalid(path.field("fieldPath"), Json(field), "must not contain line breaks");
  }

  FieldErrors& errors_;
};

}  // namespace

void check_schema(const Json& schema, const FieldPath& path, bool has_status, FieldErrors& errors) {
  if (has_status) {
    const std::string type = text_at(schema, {"type"});
    if (!type.empty() && type != "object") {
      errors.invalid(path.field("type"), Json(type),
                     "only \"object\" is allowed as the type at the root of the schema if the "
                     "status subresource is enabled");
    }
    const JsonObject none;
    for (const auto& entry : schema.is_object() ? schema.get_object() : none) {
      const std::string_view key(entry.key().data(), entry.key().size());
      if (std::find(std::begin(kAllowedAtRoot), std::end(kAllowedAtRoot), key) !=
          std::end(kAllowedAtRoot))
        continue;
      errors.invalid(path, schema,
                     "only " + std::string(kAllowedAtRootText) +
                         " fields are allowed at the root of the schema if the status subresource "
                         "is enabled");
      break;
    }
  }
  if (bool_at(schema, {"nullable"}).value_or(false))
    errors.forbidden(path.field("nullable"), "nullable cannot be true at the root");
  FieldErrors own;
  if (check_structural(schema, path, own)) check_schema_defaults(schema, path, own);
  Checker(own).schema(schema, path, true, Context());
  std::vector<Cause> found = own.take();
  // Rules are read once the schema they speak of is known to be one.
  if (found.empty()) found = cel::check_rules(schema, path.text());
  errors.append(std::move(found));
}

}  // namespace krater::api
