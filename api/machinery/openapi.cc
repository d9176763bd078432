#include "api/machinery/openapi.h"

#include <algorithm>
#include <memory>

#include "api/machinery/openapi_components.h"
#include "api/schemas/embedded.h"
#include "base/check.h"

namespace krater::api {
namespace {

// The schema texts as documents, parsed for as long as a description is being made.
struct SchemaTexts {
  std::vector<Json> documents;
  std::map<std::string, const Json*, std::less<>> types;

  SchemaTexts() {
    for (std::string_view text : embedded_schemas()) {
      auto document = parse_json(text);
      CHECK(document.has_value());
      documents.push_back(*std::move(document));
    }
    for (const Json& document : documents) {
      const std::string package = text_at(document, {"package"});
      for (const auto& type : *object_at(document, {"types"})) {
        types.emplace(package + "." + std::string(type.key()), &type.value());
      }
    }
  }
};

std::string path_of(const Kind& kind) {
  return kind.group.empty() ? "api/" + kind.version : "apis/" + kind.group + "/" + kind.version;
}

Json group_version_kind(const Kind& kind) {
  return Json(JsonObject{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
}

Json query_parameter(std::string_view name, std::string_view type, int version) {
  JsonObject out{{"name", name}, {"in", "query"}};
  if (version == 2) {
    out["type"] = type;
    out["uniqueItems"] = true;
  } else {
    out["schema"] = JsonObject{{"type", type}, {"uniqueItems", true}};
  }
  return Json(std::move(out));
}

JsonArray parameters(int version) {
  return {query_parameter("dryRun", "string", version),
          query_parameter("fieldManager", "string", version),
          query_parameter("fieldValidation", "string", version),
          query_parameter("force", "boolean", version)};
}

JsonArray patch_types(bool native) {
  JsonArray types{"application/json-patch+json", "application/merge-patch+json"};
  if (native) types.push_back("application/strategic-merge-patch+json");
  types.push_back("application/apply-patch+yaml");
  return types;
}

std::string object_path(const Kind& kind) {
  return "/" + path_of(kind) + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural +
         "/{name}";
}

// kubectl reads from this operation whether the server validates fields, and which patches a kind
// takes.
Json patch_operation(const Kind& kind, const std::string& component, bool native, int version) {
  Json out(JsonObject{{"x-kubernetes-action", "patch"},
                      {"x-kubernetes-group-version-kind", group_version_kind(kind)}});
  set_path(out, {"description"}, Json("partially update the specified " + kind.kind));
  set_path(out, {"parameters"}, parameters(version));
  if (version == 2) {
    set_path(out, {"consumes"}, patch_types(native));
    set_path(out, {"produces"}, JsonArray{"application/json"});
    set_path(out, {"responses", "200", "description"}, "OK");
    set_path(out, {"responses", "200", "schema", "$ref"}, Json("#/definitions/" + component));
    return out;
  }
  JsonObject content;
  for (const Json& type : patch_types(native)) content.emplace(type.as_string(), JsonObject());
  set_path(out, {"requestBody", "content"}, std::move(content));
  set_path(out, {"responses", "200", "description"}, "OK");
  set_path(out, {"responses", "200", "content", "application/json", "schema", "$ref"},
           Json("#/components/schemas/" + component));
  return out;
}

Json path_parameters(const Kind& kind, int version) {
  JsonArray out;
  const auto add = [&](std::string_view name) {
    JsonObject parameter{{"name", name}, {"in", "path"}, {"required", true}};
    if (version == 2) {
      parameter["type"] = "string";
    } else {
      parameter["schema"] = JsonObject{{"type", "string"}};
    }
    out.push_back(std::move(parameter));
  };
  add("name");
  if (kind.namespaced) add("namespace");
  return Json(std::move(out));
}

}  // namespace

void OpenApiDocuments::add_kind(const Kind& kind, const std::string& type_name, bool native) {
  entries_.push_back({kind, type_name, native});
}

std::vector<std::string> OpenApiDocuments::v3_paths(const std::vector<KindSchemaPtr>& kinds) const {
  std::vector<std::string> paths;
  for (const KindSchemaPtr& schema : kinds) {
    std::string path = path_of(schema->kind());
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(std::move(path));
  }
  return paths;
}

std::optional<std::string> OpenApiDocuments::v3(const std::vector<KindSchemaPtr>& kinds,
                                                std::string_view path) const {
  const std::lock_guard lock(mutex_);
  if (const auto made = v3_.find(path); made != v3_.end()) return made->second;
  const SchemaTexts texts;
  ComponentSet components(3, texts.types);
  JsonObject paths;
  for (const Entry& entry : entries_) {
    if (path_of(entry.kind) != path) continue;
    components.add_kind(entry.type_name, group_version_kind(entry.kind), entry.kind.kind + "List");
    paths[object_path(entry.kind)] = JsonObject{
        {"parameters", path_parameters(entry.kind, 3)},
        {"patch", patch_operation(entry.kind, component_name(entry.type_name), entry.native, 3)}};
  }
  if (paths.empty()) return std::nullopt;
  Json document(JsonObject{{"openapi", "3.0.0"}});
  set_path(document, {"info", "title"}, "Krater");
  set_path(document, {"info", "version"}, "v1.32.0");
  set_path(document, {"paths"}, std::move(paths));
  set_path(document, {"components", "schemas"}, components.take());
  return v3_.emplace(std::string(path), to_json(document)).first->second;
}

std::string OpenApiDocuments::v2(const std::vector<KindSchemaPtr>& kinds) const {
  const std::lock_guard lock(mutex_);
  if (!v2_.empty()) return v2_;
  const SchemaTexts texts;
  ComponentSet components(2, texts.types);
  JsonObject paths;
  for (const Entry& entry : entries_) {
    components.add_kind(entry.type_name, group_version_kind(entry.kind), entry.kind.kind + "List");
    paths[object_path(entry.kind)] = JsonObject{
        {"parameters", path_parameters(entry.kind, 2)},
        {"patch", patch_operation(entry.kind, component_name(entry.type_name), entry.native, 2)}};
  }
  Json document(JsonObject{{"swagger", "2.0"}});
  set_path(document, {"info", "title"}, "Krater");
  set_path(document, {"info", "version"}, "v1.32.0");
  set_path(document, {"paths"}, std::move(paths));
  set_path(document, {"definitions"}, components.take());
  v2_ = to_json(document);
  return v2_;
}

}  // namespace krater::api
