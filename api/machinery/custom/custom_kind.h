// One served version of a kind that a user has defined, as everything else sees a kind. Immutable,
// any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/cel/schema_rules.h"
#include "api/machinery/custom/definition.h"
#include "api/machinery/custom/kind_life.h"
#include "api/machinery/custom/ownership_tree.h"
#include "api/machinery/custom/structural.h"
#include "api/machinery/custom/whole_object.h"
#include "api/machinery/json_path.h"
#include "api/machinery/schema.h"

namespace krater::api {

// What is made of one version of a definition once, however often its status changes.
struct CompiledVersion {
  CompiledVersion(const DefinitionVersion& from, const WholeObject& whole);

  DefinitionVersion version;
  Structural schema;
  OwnershipTree tree;
  std::vector<TableColumn> columns;
  std::vector<CellPath> cells;
  cel::SchemaRulesPtr rules;  // x-kubernetes-validations; null: none
};

struct CustomKindParts {
  std::shared_ptr<const CompiledVersion> compiled;
  std::shared_ptr<const WholeObject> whole;
  std::shared_ptr<KindLife> life;
  Kind kind;
  DefinitionNames names;            // as accepted
  std::string definition;           // its name
  std::string storage_api_version;  // what objects are stored as
  Revision since;                   // objects written later have this schema's shape
  bool representative = false;      // stands for its resource where one version is enough
  bool terminating = false;         // takes nothing new
};

class CustomKind final : public KindSchema {
 public:
  explicit CustomKind(CustomKindParts parts);

  const std::string& definition() const { return parts_.definition; }
  const DefinitionVersion& version() const { return parts_.compiled->version; }
  const Structural& schema() const { return parts_.compiled->schema; }
  const std::string& storage_api_version() const { return parts_.storage_api_version; }
  Revision since() const { return parts_.since; }
  bool terminating() const { return parts_.terminating; }
  const std::shared_ptr<KindLife>& life() const { return parts_.life; }
  // What clients of a deprecated version are told; "" when it is not.
  std::string deprecation_warning() const;
  // validate() with what breaks a rule and may, because it did so before.
  std::vector<Cause> validate(const Json& object, const Json* old,
                              std::vector<std::string>& warnings) const;
  // Brings what was stored under an older schema into the shape of this one.
  void reshape(Json& object) const;

  const Kind& kind() const override { return parts_.kind; }
  const std::string& singular() const override { return parts_.names.singular; }
  const std::string& list_kind() const override { return parts_.names.list_kind; }
  const std::vector<std::string>& short_names() const override { return parts_.names.short_names; }
  const std::vector<std::string>& categories() const override { return parts_.names.categories; }
  const std::vector<std::string>& verbs() const override;
  const Subresources& subresources() const override { return version().subresources; }
  bool built_in() const override { return false; }
  bool counts_generation() const override { return true; }
  bool storage_version() const override { return parts_.representative; }
  const SchemaNode& root() const override { return parts_.compiled->tree.root(); }
  std::string check_name(std::string_view name, bool prefix) const override;

  std::vector<FieldProblem> prune(Json& object) const override;
  Result<void> check_types(const Json& object) const override;
  void apply_defaults(Json& object) const override;
  void canonicalize(Json&) const override {}  // users' objects keep their words
  std::vector<Cause> validate(const Json& object, const Json* old) const override;
  Result<void> strategic_merge(Json& target, const Json& patch) const override;
  Result<Json> decode_protobuf(std::string_view body) const override;
  const std::vector<TableColumn>& columns() const override { return parts_.compiled->columns; }
  JsonArray cells(const Json& object, WallTime now) const override;
  bool supports_field(std::string_view label) const override;
  std::string field_value(const Json& object, std::string_view label) const override;

 private:
  void validate_scale(const Json& object, std::vector<Cause>& causes) const;

  CustomKindParts parts_;
};

// nullptr for built-in kinds.
const CustomKind* as_custom(const KindSchema& schema);

// The value at a path such as ".spec.replicas"; nullptr when there is none.
const Json* at_simple_path(const Json& object, std::string_view path);

}  // namespace krater::api
