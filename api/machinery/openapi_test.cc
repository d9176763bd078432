#include <gtest/gtest.h>

#include <set>

#include "api/machinery/schema.h"

namespace krater::api {
namespace {

// Every $ref in `document` below `prefix`.
void collect_refs(const Json& value, std::set<std::string>& refs) {
  if (const JsonObject* object = value.if_object()) {
    for (const auto& entry : *object) {
      if (entry.key() == "$ref" && entry.value().is_string())
        refs.emplace(view(entry.value().get_string()));
      collect_refs(entry.value(), refs);
    }
  } else if (const JsonArray* array = value.if_array()) {
    for (const Json& item : *array) collect_refs(item, refs);
  }
}

TEST(OpenApi, EveryGroupVersionHasADocumentWhoseReferencesResolve) {
  const auto schemas = make_builtin_schemas();
  const std::vector<std::string> paths = schemas->openapi_v3_paths();
  EXPECT_EQ(paths.front(), "api/v1");
  std::set<std::string> versions;
  for (const KindSchemaPtr& schema : schemas->all()) versions.insert(schema->kind().api_version());
  EXPECT_EQ(paths.size(), versions.size());
  for (const std::string& path : paths) {
    const auto text = schemas->openapi_v3(path);
    ASSERT_TRUE(text.has_value()) << path;
    EXPECT_EQ(text->find("x-krater"), std::string::npos) << path;
    auto document = parse_json(*text);
    ASSERT_TRUE(document.has_value());
    const JsonObject* components = object_at(*document, {"components", "schemas"});
    std::set<std::string> refs;
    collect_refs(*document, refs);
    for (const std::string& ref : refs) {
      constexpr std::string_view kPrefix = "#/components/schemas/";
      ASSERT_EQ(ref.substr(0, kPrefix.size()), kPrefix);
      EXPECT_NE(components->if_contains(ref.substr(kPrefix.size())), nullptr) << path << " " << ref;
    }
  }
  EXPECT_FALSE(schemas->openapi_v3("apis/nope/v1").has_value());
}

TEST(OpenApi, KubectlFindsFieldValidationPatchTypesAndMergeKeys) {
  const auto schemas = make_builtin_schemas();
  auto core = parse_json(*schemas->openapi_v3("api/v1"));
  const Json* patch = find(*core, {"paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(to_json(*find(*patch, {"x-kubernetes-group-version-kind"})),
            R"({"group":"","version":"v1","kind":"Pod"})");
  EXPECT_EQ(text_at(array_at(*patch, {"parameters"})->at(2), {"name"}), "fieldValidation");
  EXPECT_NE(find(*patch, {"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
  const Json* containers = find(
      *core, {"components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties", "containers"});
  EXPECT_EQ(text_at(*containers, {"x-kubernetes-patch-merge-key"}), "name");
  EXPECT_EQ(text_at(*containers, {"x-kubernetes-patch-strategy"}), "merge");
  EXPECT_EQ(text_at(*containers, {"items", "$ref"}),
            "#/components/schemas/io.k8s.api.core.v1.Container");
  EXPECT_NE(
      find(*core, {"components", "schemas", "io.k8s.api.core.v1.Volume", "properties", "emptyDir"}),
      nullptr);
  EXPECT_NE(find(*core, {"components", "schemas", "io.k8s.api.core.v1.PodList"}), nullptr);

  auto ray = parse_json(*schemas->openapi_v3("apis/ray.io/v1"));
  const Json* ray_patch =
      find(*ray, {"paths", "/apis/ray.io/v1/namespaces/{namespace}/rayjobs/{name}", "patch"});
  ASSERT_NE(ray_patch, nullptr);
  EXPECT_EQ(find(*ray_patch, {"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
}

// What the originals' documents say of a type where nothing here is refused by `required`, and
// which maps an applier owns as a whole.
TEST(OpenApi, RequiredFieldsAndAtomicMapsAreTheOriginals) {
  const auto document = *parse_json(make_builtin_schemas()->openapi_v2());
  const auto of = [&](std::string_view name) { return find(document, {"definitions", name}); };
  const auto required = [&](std::string_view name) {
    std::set<std::string> out;
    for (const Json& field : *array_at(*of(name), {"required"}))
      out.emplace(view(field.get_string()));
    return out;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(required("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec"),
            (Names{"maxReplicas", "scaleTargetRef"}));
  EXPECT_EQ(required("io.k8s.api.core.v1.NodeSystemInfo").size(), 10U);
  EXPECT_EQ(required("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"),
            (Names{"apiVersion", "kind", "name", "uid"}));
  EXPECT_EQ(required("io.k8s.api.core.v1.EphemeralContainer"), (Names{"name"}));
  for (const char* name :
       {"io.k8s.api.rbac.v1.RoleRef", "io.k8s.api.networking.v1.ServiceBackendPort",
        "io.k8s.api.core.v1.SecretReference", "io.k8s.api.core.v1.ScopeSelector",
        "io.k8s.api.admissionregistration.v1.MatchResources"})
    EXPECT_EQ(text_at(*of(name), {"x-kubernetes-map-type"}), "atomic") << name;
}

TEST(OpenApi, TheOldFormatHasEveryKindToo) {
  const auto schemas = make_builtin_schemas();
  auto document = parse_json(schemas->openapi_v2());
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(text_at(*document, {"swagger"}), "2.0");
  const JsonObject* definitions = object_at(*document, {"definitions"});
  for (std::string_view name : {"io.k8s.api.core.v1.Pod", "io.k8s.api.batch.v1.Job",
                                "io.ray.v1.RayJob", "sh.volcano.scheduling.v1beta1.PodGroup"}) {
    ASSERT_NE(definitions->if_contains(name), nullptr) << name;
  }
  std::set<std::string> refs;
  collect_refs(*document, refs);
  for (const std::string& ref : refs)
    EXPECT_NE(definitions->if_contains(ref.substr(14)), nullptr) << ref;
}

}  // namespace
}  // namespace krater::api
