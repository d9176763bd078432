#include "api/machinery/openapi_components.h"

#include "base/check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Packages of custom kinds to the reversed name of their group.
std::string_view package_prefix(std::string_view package) {
  if (package == "meta/v1") return "io.k8s.apimachinery.pkg.apis.meta.v1";
  if (package == "apiextensions/v1")
    return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
  if (package == "ray/v1") return "io.ray.v1";
  if (package == "krater/v1") return "io.krater.v1";
  if (package == "scheduling.volcano.sh/v1beta1") return "sh.volcano.scheduling.v1beta1";
  if (package == "batch.volcano.sh/v1alpha1") return "sh.volcano.batch.v1alpha1";
  return {};
}

Json quantity(int version) {
  if (version == 2) return Json(JsonObject{{"type", "string"}});
  return Json(JsonObject{
      {"oneOf", JsonArray{JsonObject{{"type", "string"}}, JsonObject{{"type", "number"}}}}});
}

Json int_or_string(int version) {
  if (version == 2) return Json(JsonObject{{"type", "string"}, {"format", "int-or-string"}});
  return Json(JsonObject{
      {"format", "int-or-string"},
      {"oneOf", JsonArray{JsonObject{{"type", "integer"}}, JsonObject{{"type", "string"}}}}});
}

void append_names(const Json& schema, std::string_view key, JsonObject& out) {
  const JsonArray* names = array_at(schema, {key});
  if (names == nullptr || names->empty()) return;
  Json& all = out["required"];
  if (!all.is_array()) all = JsonArray();
  for (const Json& name : *names) all.get_array().push_back(name);
}

// Fields that the original's documents call required and that are refused, if at all, by a rule
// with words of its own.
constexpr std::string_view kShownRequired = "x-krater-shown-required";

bool is_kept(std::string_view key) {
  return !starts_with(key, "x-krater-") && key != "$ref" && key != "properties" && key != "items" &&
         key != "additionalProperties" && key != "x-kubernetes-int-or-string" && key != "nullable";
}

}  // namespace

std::string component_name(std::string_view type_name) {
  const auto dot = type_name.rfind('.');
  const std::string_view package = type_name.substr(0, dot);
  const std::string type(type_name.substr(dot));
  if (const std::string_view prefix = package_prefix(package); !prefix.empty())
    return std::string(prefix) + type;
  std::string name = "io.k8s.api." + std::string(package) + type;
  name[name.find('/')] = '.';
  return name;
}

ComponentSet::ComponentSet(int version,
                           const std::map<std::string, const Json*, std::less<>>& types)
    : version_(version), types_(types) {}

std::string ComponentSet::reference(std::string_view type_name) const {
  return (version_ == 2 ? "#/definitions/" : "#/components/schemas/") + component_name(type_name);
}

std::string ComponentSet::add(std::string_view type_name) {
  std::string name = component_name(type_name);
  if (components_.if_contains(name) != nullptr) return name;
  const auto type = types_.find(type_name);
  CHECK_MSG(type != types_.end(), type_name);
  components_[name] = JsonObject();  // ends the walk for types that refer to each other
  Json converted = convert(*type->second);
  components_[name] = std::move(converted);
  return name;
}

void ComponentSet::add_kind(std::string_view type_name, const Json& group_version_kind,
                            std::string_view list_kind) {
  const std::string name = add(type_name);
  JsonObject& component = components_[name].as_object();
  JsonObject properties{
      {"apiVersion",
       JsonObject{{"type", "string"},
                  {"description", "Group and version of the schema of this object."}}},
      {"kind", JsonObject{{"type", "string"}, {"description", "The kind of this object."}}}};
  for (const auto& property : component["properties"].as_object())
    properties.emplace(property.key(), property.value());
  component["properties"] = std::move(properties);
  component["x-kubernetes-group-version-kind"] = JsonArray{group_version_kind};

  const std::string list_name = name.substr(0, name.rfind('.') + 1) + std::string(list_kind);
  Json list_gvk = group_version_kind;
  list_gvk.as_object()["kind"] = list_kind;
  Json list(JsonObject{{"type", "object"},
                       {"description", "A list of objects of this kind."},
                       {"required", JsonArray{"items"}}});
  set_path(list, {"properties", "apiVersion", "type"}, "string");
  set_path(list, {"properties", "kind", "type"}, "string");
  set_path(list, {"properties", "metadata", "$ref"}, Json(reference("meta/v1.ListMeta")));
  set_path(list, {"properties", "items", "type"}, "array");
  set_path(list, {"properties", "items", "items", "$ref"}, Json(reference(type_name)));
  set_path(list, {"x-kubernetes-group-version-kind"}, JsonArray{std::move(list_gvk)});
  components_[list_name] = std::move(list);
  add("meta/v1.ListMeta");
}

Json ComponentSet::convert(const Json& schema) {
  if (bool_at(schema, {"x-kubernetes-int-or-string"}).value_or(false))
    return number_or_text(schema);
  JsonObject out;
  for (const auto& entry : schema.as_object()) {
    if (is_kept(entry.key())) out.emplace(entry.key(), entry.value());
  }
  append_names(schema, kShownRequired, out);
  if (text_at(schema, {"format"}) == "micro-time") out["format"] = "date-time";
  if (const auto ref = string_at(schema, {"$ref"})) {
    const std::string type_name(*ref);
    add(type_name);
    return refer(std::move(out), reference(type_name));
  }
  convert_object(schema, out);
  return Json(std::move(out));
}

// Quantity and IntOrString are components of their own, so that `kubectl explain` can name them.
Json ComponentSet::number_or_text(const Json& schema) {
  const bool is_quantity = text_at(schema, {"format"}) == "quantity";
  const std::string_view name = is_quantity ? "io.k8s.apimachinery.pkg.api.resource.Quantity"
                                            : "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  components_[name] = is_quantity ? quantity(version_) : int_or_string(version_);
  JsonObject out;
  if (const auto text = string_at(schema, {"description"})) out["description"] = *text;
  return refer(
      std::move(out),
      std::string(version_ == 2 ? "#/definitions/" : "#/components/schemas/") + std::string(name));
}

// In version 3 the siblings of a reference are not read by all clients; of version 2 kubectl reads
// them, and does not look into `allOf`.
Json ComponentSet::refer(JsonObject siblings, const std::string& target) const {
  JsonObject reference{{"$ref", target}};
  if (version_ == 2) {
    for (const auto& sibling : siblings) reference.emplace(sibling.key(), sibling.value());
  } else if (!siblings.empty()) {
    siblings["allOf"] = JsonArray{std::move(reference)};
    return Json(std::move(siblings));
  }
  return Json(std::move(reference));
}

void ComponentSet::convert_object(const Json& schema, JsonObject& out) {
  JsonObject properties;
  if (const JsonObject* own = object_at(schema, {"properties"})) {
    for (const auto& property : *own) properties.emplace(property.key(), convert(property.value()));
  }
  if (const JsonArray* inlined = array_at(schema, {"x-krater-inline"})) {
    for (const Json& message : *inlined) {
      const auto type = types_.find(text_at(message, {"$ref"}));
      CHECK(type != types_.end());
      JsonObject flat;
      convert_object(*type->second, flat);
      for (const auto& property : flat["properties"].as_object())
        properties.emplace(property.key(), property.value());
      append_names(*type->second, "required", out);
      append_names(*type->second, kShownRequired, out);
    }
  }
  if (!properties.empty() || find(schema, {"properties"}) != nullptr)
    out["properties"] = std::move(properties);
  if (const Json* items = find(schema, {"items"})) out["items"] = convert(*items);
  if (const Json* values = find(schema, {"additionalProperties"}))
    out["additionalProperties"] = convert(*values);
}

}  // namespace krater::api
