// Structural schemas: types are said once, outside of conditions; conditions say nothing but
// conditions, and only of what is there.
#include <algorithm>
#include <functional>

#include "api/machinery/custom/definition_check.h"
#include "api/machinery/custom/structural.h"

namespace krater::api {
namespace {

enum class Level { Root, Item, Field };

bool flag(const Json& schema, std::string_view key) {
  return bool_at(schema, {key}).value_or(false);
}

const JsonObject* below(const Json& schema, std::string_view key) {
  return object_at(schema, {key});
}

// anyOf: [{type: integer}, {type: string}], which x-kubernetes-int-or-string may repeat.
bool is_int_or_string(const Json& schema) {
  const JsonArray* any = array_at(schema, {"anyOf"});
  return any != nullptr && any->size() == 2 && (*any)[0] == Json(JsonObject{{"type", "integer"}}) &&
         (*any)[1] == Json(JsonObject{{"type", "string"}});
}

bool starts_with_int_or_string(const Json& schema) {
  const JsonArray* all = array_at(schema, {"allOf"});
  return all != nullptr && !all->empty() && is_int_or_string((*all)[0]);
}

class Checker {
 public:
  explicit Checker(FieldErrors& errors) : errors_(errors) {}

  void invariants(const Json& schema, Level level, const FieldPath& path) {
    const std::string type = text_at(schema, {"type"});
    const Json* items = find(schema, {"items"});
    if (type == "array" && items == nullptr)
      errors_.required(path.field("items"), "must be specified");
    if (items != nullptr) invariants(*items, Level::Item, path.field("items"));
    if (const JsonObject* properties = below(schema, "properties")) {
      const FieldPath all = path.field("properties");
      for (const auto& entry : *properties)
        invariants(entry.value(), Level::Field, all.key(std::string_view(entry.key())));
    }
    const Json* values = find(schema, {"additionalProperties"});
    if (values != nullptr && level == Level::Root)
      errors_.forbidden(path.field("additionalProperties"), "must not be used at the root");
    if (values != nullptr && values->is_object())
      invariants(*values, Level::Field, path.field("additionalProperties"));
    extensions(schema, path);
    conditions(schema, is_int_or_string(schema), starts_with_int_or_string(schema), path);
    type_of(schema, type, level, path);
    whole_objects(schema, level, path);
  }

  // Whatever a condition speaks of is there.
  void completeness(const Json& condition, const Json* schema, const FieldPath& path,
                    const FieldPath& said_at) {
    if (const Json* none = find(condition, {"not"}))
      nested_completeness(*none, schema, path, said_at.field("not"));
    for (const std::string_view junctor : {"allOf", "anyOf", "oneOf"}) {
      const JsonArray* parts = array_at(condition, {junctor});
      if (parts == nullptr) continue;
      const FieldPath all = said_at.field(junctor);
      for (std::size_t i = 0; i < parts->size(); ++i)
        nested_completeness((*parts)[i], schema, path, all.index(i));
    }
  }

 private:
  void nested_completeness(const Json& condition, const Json* schema, const FieldPath& path,
                           const FieldPath& said_at) {
    if (schema == nullptr)
      return errors_.required(path, "because it is defined in " + said_at.text());
    completeness(condition, schema, path, said_at);
    if (const Json* items = find(condition, {"items"})) {
      nested_completeness(*items, find(*schema, {"items"}), path.field("items"),
                          said_at.field("items"));
    }
    const JsonObject* properties = below(condition, "properties");
    if (properties == nullptr) return;
    const FieldPath here = path.field("properties"), there = said_at.field("properties");
    for (const auto& entry : *properties) {
      const std::string_view name(entry.key().data(), entry.key().size());
      nested_completeness(entry.value(), find(*schema, {"properties", name}), here.key(name),
                          there.key(name));
    }
  }

  void extensions(const Json& schema, const FieldPath& path) {
    if (!flag(schema, "x-kubernetes-int-or-string")) return;
    for (const std::string_view other :
         {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (flag(schema, other)) {
        errors_.invalid(path.field(other), Json(true),
                        "must be false if x-kubernetes-int-or-string is true");
      }
    }
  }

  void type_of(const Json& schema, const std::string& type, Level level, const FieldPath& path) {
    const bool embedded = flag(schema, "x-kubernetes-embedded-resource");
    const FieldPath here = path.field("type");
    if (embedded && type != "object") {
      constexpr std::string_view kWhy = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty())
        errors_.required(here, kWhy);
      else
        errors_.invalid(here, Json(type), kWhy);
    } else if (type.empty() && !flag(schema, "x-kubernetes-int-or-string") &&
               !flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      switch (level) {
        case Level::Root:
          errors_.required(here, "must not be empty at the root");
          break;
        case Level::Item:
          errors_.required(here, "must not be empty for specified array items");
          break;
        case Level::Field:
          errors_.required(here, "must not be empty for specified object fields");
          break;
      }
    }
    if (embedded && find(schema, {"additionalProperties"}) != nullptr) {
      errors_.forbidden(path.field("additionalProperties"),
                        "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (level == Level::Root && !type.empty() && type != "object")
      errors_.invalid(here, Json(type), "must be object at the root");
  }

  void must_be(const Json& schema, std::string_view name, std::string_view type,
               const FieldPath& path) {
    const Json* property = find(schema, {"properties", name});
    if (property == nullptr || text_at(*property, {"type"}) == type) return;
    const FieldPath all = path.field("properties");
    const FieldPath here = all.key(name);
    errors_.invalid(here.field("type"), Json(text_at(*property, {"type"})),
                    "must be " + std::string(type));
  }

  void whole_objects(const Json& schema, Level level, const FieldPath& path) {
    const bool embedded = flag(schema, "x-kubernetes-embedded-resource");
    if (level == Level::Root || embedded) {
      must_be(schema, "kind", "string", path);
      must_be(schema, "apiVersion", "string", path);
      must_be(schema, "metadata", "object", path);
    }
    const Json* metadata = find(schema, {"properties", "metadata"});
    if (metadata != nullptr && level == Level::Root) root_metadata(*metadata, path);
    const JsonObject* properties = below(schema, "properties");
    if (embedded && !flag(schema, "x-kubernetes-preserve-unknown-fields") &&
        (properties == nullptr || properties->empty())) {
      errors_.required(path.field("properties"),
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
    }
  }

  // Names may be restricted there, nothing else.
  void root_metadata(const Json& metadata, const FieldPath& path) {
    JsonObject rest = metadata.is_object() ? metadata.get_object() : JsonObject();
    rest.erase("type");
    rest.erase("default");
    if (const JsonObject* properties = below(metadata, "properties")) {
      const bool names_only =
          !properties->empty() &&
          std::all_of(properties->begin(), properties->end(), [](const auto& entry) {
            return entry.key() == "name" || entry.key() == "generateName";
          });
      if (names_only || properties->empty()) rest.erase("properties");
    }
    if (rest.empty()) return;
    const FieldPath all = path.field("properties");
    errors_.forbidden(all.key("metadata"),
                      "must not specify anything other than name and generateName, but metadata "
                      "is implicitly specified");
  }

  void conditions(const Json& schema, bool skip_any, bool skip_any_of_first,
                  const FieldPath& path) {
    for (const std::string_view junctor : {"anyOf", "allOf", "oneOf"}) {
      const JsonArray* parts = array_at(schema, {junctor});
      if (parts == nullptr || (junctor == "anyOf" && skip_any)) continue;
      const FieldPath all = path.field(junctor);
      for (std::size_t i = 0; i < parts->size(); ++i) {
        const bool skip = junctor == "allOf" && skip_any_of_first && i == 0;
        nested((*parts)[i], skip, all.index(i));
      }
    }
    if (const Json* none = find(schema, {"not"})) nested(*none, false, path.field("not"));
    const std::string pattern = text_at(schema, {"pattern"});
    if (pattern.empty()) return;
    const re2::RE2 compiled(pattern, re2::RE2::Quiet);
    if (compiled.ok()) return;
    errors_.invalid(
        path.field("pattern"), Json(pattern),
        "must be a valid regular expression, but isn't: error parsing regexp: " + compiled.error());
  }

  void nested(const Json& schema, bool skip_any, const FieldPath& path) {
    conditions(schema, skip_any, false, path);
    if (const Json* items = find(schema, {"items"})) nested(*items, false, path.field("items"));
    if (const JsonObject* properties = below(schema, "properties")) {
      const FieldPath all = path.field("properties");
      for (const auto& entry : *properties)
        nested(entry.value(), false, all.key(std::string_view(entry.key())));
      if (properties->contains("metadata"))
        errors_.forbidden(all.key("metadata"), "must not be specified in a nested context");
    }
    const auto forbid = [&](std::string_view key, std::string_view why) {
      const Json* value = find(schema, {key});
      const bool nothing = value == nullptr || value->is_null() ||
                           (value->is_bool() && !value->get_bool()) ||
                           (value->is_string() && value->get_string().empty()) ||
                           (value->is_array() && value->get_array().empty());
      if (!nothing) errors_.forbidden(path.field(key), why);
    };
    forbid("type", "must be empty to be structural");
    forbid("additionalProperties", "must be undefined to be structural");
    forbid("default", "must be undefined to be structural");
    forbid("title", "must be empty to be structural");
    forbid("description", "must be empty to be structural");
    forbid("nullable", "must be false to be structural");
    forbid("x-kubernetes-preserve-unknown-fields", "must be false to be structural");
    forbid("x-kubernetes-embedded-resource", "must be false to be structural");
    forbid("x-kubernetes-int-or-string", "must be false to be structural");
    forbid("x-kubernetes-list-map-keys", "must be empty to be structural");
    forbid("x-kubernetes-list-type", "must be undefined to be structural");
    forbid("x-kubernetes-map-type", "must be undefined to be structural");
    forbid("x-kubernetes-validations", "must be empty to be structural");
  }

  FieldErrors& errors_;
};

}  // namespace

bool check_structural(const Json& schema, const FieldPath& path, FieldErrors& errors) {
  FieldErrors own;
  Checker checker(own);
  checker.invariants(schema, Level::Root, path);
  checker.completeness(schema, &schema, path, path);
  std::vector<Cause> found = own.take();
  const auto text = [](const Cause& cause) { return cause.field + ": " + cause.message; };
  std::sort(found.begin(), found.end(),
            [&](const Cause& a, const Cause& b) { return text(a) < text(b); });
  const bool clean = found.empty();
  errors.append(std::move(found));
  return clean;
}

}  // namespace krater::api
