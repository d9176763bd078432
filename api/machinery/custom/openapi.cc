#include "api/machinery/custom/openapi.h"

#include <algorithm>
#include <map>

#include "api/machinery/openapi_components.h"
#include "api/machinery/openapi_paths.h"
#include "api/schemas/embedded.h"
#include "base/check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

std::string_view prefix_of(int version) {
  return version == 2 ? "#/definitions/" : "#/components/schemas/";
}

Json reference(int version, std::string_view component) {
  return Json(JsonObject{{"$ref", std::string(prefix_of(version)).append(component)}});
}

// "com.example.stable.v1.CronTab" of stable.example.com/v1 CronTab.
std::string component_of(const Kind& kind) {
  std::vector<std::string_view> parts = split(kind.group, '.');
  std::string out;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) out.append(*part).append(".");
  return out + kind.version + ".";
}

// ObjectMeta, ListMeta and what they refer to.
JsonObject meta_components(int version) {
  std::vector<Json> documents;
  for (const std::string_view text : embedded_schemas()) {
    if (text.find(R"("package":"meta/v1")") == std::string_view::npos) continue;
    Result<Json> document = parse_json(text);
    CHECK(document.has_value());
    documents.push_back(*std::move(document));
  }
  std::map<std::string, const Json*, std::less<>> types;
  for (const Json& document : documents) {
    for (const auto& type : *object_at(document, {"types"}))
      types.emplace("meta/v1." + std::string(type.key()), &type.value());
  }
  ComponentSet components(version, types);
  components.add("meta/v1.ObjectMeta");
  components.add("meta/v1.ListMeta");
  return components.take();
}

// What clients of the old format cannot read is left out, as upstream does; they then accept more.
void to_old_format(Json& schema) {
  JsonObject* fields = schema.if_object();
  if (fields == nullptr) return;
  for (const std::string_view key : {"allOf", "anyOf", "oneOf", "not"}) fields->erase(key);
  const auto holds = [&](std::string_view key) { return bool_at(schema, {key}).value_or(false); };
  if (holds("nullable")) {
    for (const std::string_view key :
         {"nullable", "type", "items", "properties", "additionalProperties", "required", "enum",
          "format", "pattern"}) {
      fields->erase(key);
    }
  }
  if (holds("x-kubernetes-preserve-unknown-fields")) {
    fields->erase("items");
    fields->erase("properties");
  }
  if (JsonObject* properties =
          fields->contains("properties") ? fields->at("properties").if_object() : nullptr) {
    if (JsonArray* required =
            fields->contains("required") ? fields->at("required").if_array() : nullptr) {
      JsonArray kept;
      for (const Json& name : *required) {
        const Json* property =
            name.is_string() ? properties->if_contains(view(name.get_string())) : nullptr;
        if (property == nullptr || !bool_at(*property, {"nullable"}).value_or(false))
          kept.push_back(name);
      }
      *required = std::move(kept);
    }
    for (auto& property : *properties) to_old_format(property.value());
  }
  for (const std::string_view key : {"items", "additionalProperties"}) {
    if (Json* below = fields->if_contains(key)) to_old_format(*below);
  }
}

Json object_component(int version, const CustomKind& kind) {
  Json schema = kind.version().schema.is_object() ? kind.version().schema : Json(JsonObject());
  if (version == 2) to_old_format(schema);
  JsonObject properties{
      {"apiVersion",
       JsonObject{{"type", "string"},
                  {"description", "Group and version of the schema of this object."}}},
      {"kind", JsonObject{{"type", "string"}, {"description", "The kind of this object."}}},
      {"metadata", reference(version, component_name("meta/v1.ObjectMeta"))}};
  if (const JsonObject* own = object_at(schema, {"properties"})) {
    for (const auto& property : *own) properties.emplace(property.key(), property.value());
  }
  set_path(schema, {"type"}, "object");
  // An object that keeps everything has no properties worth naming in the old format.
  const bool open = bool_at(schema, {"x-kubernetes-preserve-unknown-fields"}).value_or(false);
  if (version == 3 || !open) set_path(schema, {"properties"}, std::move(properties));
  set_path(schema, {"x-kubernetes-group-version-kind"}, JsonArray{group_version_kind(kind.kind())});
  return schema;
}

Json list_component(int version, const CustomKind& kind, const std::string& item) {
  Json gvk = group_version_kind(kind.kind());
  gvk.as_object()["kind"] = kind.list_kind();
  Json out(JsonObject{{"type", "object"},
                      {"description", kind.list_kind() + " is a list of " + kind.kind().kind},
                      {"required", JsonArray{"items"}}});
  set_path(out, {"properties", "apiVersion", "type"}, "string");
  set_path(out, {"properties", "kind", "type"}, "string");
  set_path(out, {"properties", "metadata"}, reference(version, component_name("meta/v1.ListMeta")));
  set_path(out, {"properties", "items", "type"}, "array");
  set_path(out, {"properties", "items", "items"}, reference(version, item));
  set_path(out, {"x-kubernetes-group-version-kind"}, JsonArray{std::move(gvk)});
  return out;
}

Json empty_document(int version) {
  Json out(JsonObject{{version == 2 ? "swagger" : "openapi", version == 2 ? "2.0" : "3.0.0"}});
  set_path(out, {"info", "title"}, "Krater");
  set_path(out, {"info", "version"}, "v1.32.0");
  return out;
}

void set_member(Json& object, std::string_view key, Json value) {
  object.as_object()[key] = std::move(value);
}

Json& member(Json& object, std::string_view key) {
  Json& value = object.as_object()[key];
  if (!value.is_object()) value = JsonObject();
  return value;
}

}  // namespace

std::string with_custom_kinds(int version, const std::optional<std::string>& document,
                              const std::vector<std::shared_ptr<const CustomKind>>& kinds) {
  Json out = empty_document(version);
  if (document) {
    Result<Json> parsed = parse_json(*document);
    CHECK(parsed.has_value());
    out = *std::move(parsed);
  }
  // All made before any is held: a new member moves the others.
  member(out, "paths");
  if (version == 2)
    member(out, "definitions");
  else
    member(member(out, "components"), "schemas");
  Json& paths = *find(out, {"paths"});
  Json& components =
      version == 2 ? *find(out, {"definitions"}) : *find(out, {"components", "schemas"});
  for (auto& meta : meta_components(version)) set_member(components, meta.key(), meta.value());
  for (const auto& kind : kinds) {
    const std::string prefix = component_of(kind->kind());
    const std::string name = prefix + kind->kind().kind;
    set_member(components, name, object_component(version, *kind));
    set_member(components, prefix + kind->list_kind(), list_component(version, *kind, name));
    set_member(paths, object_path(kind->kind()),
               object_operations(kind->kind(), name, false, version));
  }
  return to_json(out);
}

}  // namespace krater::api
