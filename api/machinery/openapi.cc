#include "api/machinery/openapi.h"

#include <algorithm>
#include <memory>

#include "api/machinery/openapi_components.h"
#include "api/machinery/openapi_paths.h"
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

}  // namespace

void OpenApiDocuments::add_kind(const Kind& kind, const std::string& type_name, bool native) {
  entries_.push_back({kind, type_name, native});
}

std::vector<std::string> OpenApiDocuments::v3_paths(const std::vector<KindSchemaPtr>& kinds) const {
  std::vector<std::string> paths;
  for (const KindSchemaPtr& schema : kinds) {
    std::string path = group_version_path(schema->kind());
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
    if (group_version_path(entry.kind) != path) continue;
    components.add_kind(entry.type_name, group_version_kind(entry.kind), entry.kind.kind + "List");
    paths[object_path(entry.kind)] =
        object_operations(entry.kind, component_name(entry.type_name), entry.native, 3);
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
    paths[object_path(entry.kind)] =
        object_operations(entry.kind, component_name(entry.type_name), entry.native, 2);
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
