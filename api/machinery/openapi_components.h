// Schema types as OpenAPI components: descriptions and x-kubernetes extensions kept, our own marks
// left out, references turned, the closure of types collected. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"

namespace krater::api {

// Where components lie: "#/components/schemas/" in v3, "#/definitions/" in v2.
class ComponentSet {
 public:
  // `version` 2 or 3.
  ComponentSet(int version, const std::map<std::string, const Json*, std::less<>>& types);

  // Adds the type with all it refers to; gives the component's name.
  std::string add(std::string_view type_name);
  // Adds a top-level kind: with apiVersion and kind, and marked with its group, version and kind.
  // `list` adds its list type too.
  void add_kind(std::string_view type_name, const Json& group_version_kind,
                std::string_view list_kind);

  JsonObject take() { return std::move(components_); }

 private:
  Json convert(const Json& schema);
  Json number_or_text(const Json& schema);
  Json refer(JsonObject siblings, const std::string& target) const;
  void convert_object(const Json& schema, JsonObject& out);
  std::string reference(std::string_view type_name) const;

  int version_;
  const std::map<std::string, const Json*, std::less<>>& types_;
  JsonObject components_;
};

// "io.k8s.api.core.v1.Pod" of "core/v1.Pod", "io.ray.v1.RayJob" of "ray/v1.RayJob".
std::string component_name(std::string_view type_name);

}  // namespace krater::api
