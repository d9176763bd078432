// A CustomResourceDefinition as a value: what a user has said of a kind. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema.h"
#include "base/ids.h"
#include "base/json.h"
#include "model/object.h"

namespace krater::api {

inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct DefinitionNames {
  std::string plural, singular, kind, list_kind;
  std::vector<std::string> short_names, categories;
  friend bool operator==(const DefinitionNames&, const DefinitionNames&) = default;
};
DefinitionNames read_names(const Json& names);
Json to_json_value(const DefinitionNames& names);

// Where the scale subresource finds its numbers; paths such as ".spec.replicas".
struct ScalePaths {
  std::string spec_replicas, status_replicas, label_selector;
};

struct DefinitionColumn {
  TableColumn column;
  std::string path;  // JSONPath
};

struct DefinitionVersion {
  std::string name;
  bool served = false, storage = false, deprecated = false;
  std::string deprecation_warning;
  Json schema;  // openAPIV3Schema; null when there is none
  Subresources subresources;
  ScalePaths scale;
  std::vector<DefinitionColumn> columns;
  std::vector<std::string> selectable;  // JSONPaths
};

struct Definition {
  std::string name, group;
  Uid uid;
  std::int64_t generation = 0;
  Revision revision;
  bool namespaced = true;
  bool established = false;          // by its own word
  bool converted_elsewhere = false;  // by a webhook; nobody is asked: one version is served
  bool deleting = false;
  DefinitionNames names, accepted;
  std::vector<DefinitionVersion> versions;

  std::string resource() const { return names.plural + "." + group; }
  const DefinitionVersion* storage() const;  // nullptr in a broken one
  // Whether clients may ask for a version. While objects are left to delete there is always one.
  bool serves(const DefinitionVersion& version) const;
};

Definition read_definition(const Object& object);

// Status of a condition of a definition: "True", "False", "Unknown", "" when there is none.
std::string condition_status(const Json& definition, std::string_view type);

}  // namespace krater::api
