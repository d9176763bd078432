#include "api/machinery/openapi_paths.h"

namespace krater::api {
namespace {

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

std::string group_version_path(const Kind& kind) {
  return kind.group.empty() ? "api/" + kind.version : "apis/" + kind.group + "/" + kind.version;
}

Json group_version_kind(const Kind& kind) {
  return Json(JsonObject{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
}

std::string object_path(const Kind& kind) {
  return "/" + group_version_path(kind) + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural +
         "/{name}";
}

Json object_operations(const Kind& kind, const std::string& component, bool native, int version) {
  return Json(JsonObject{{"parameters", path_parameters(kind, version)},
                         {"patch", patch_operation(kind, component, native, version)}});
}

}  // namespace krater::api
