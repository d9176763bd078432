// What one YAML file of api/schemas/ becomes: everything the API knows of a kind. Built-in kinds
// and user CRDs take the same path; nothing else in api/ may know a kind by name (except
// api/admission/). Immutable after loading; any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "model/kinds.h"
#include "model/object.h"

namespace krater::api {

struct Subresources {
  bool status = false;
  bool scale = false;
};

struct FieldProblem {
  std::string path;     // "spec.containers[0].image"
  std::string message;  // `unknown field "spec.foo"`, `duplicate field "spec.a"`
};

struct TableColumn {
  std::string name, type, format, description;
  int priority = 0;
};

struct SchemaNode;

// One served version of one kind.
class KindSchema {
 public:
  virtual ~KindSchema() = default;
  virtual const Kind& kind() const = 0;
  virtual const std::string& singular() const = 0;
  virtual const std::string& list_kind() const = 0;  // "PodList"
  virtual const std::vector<std::string>& short_names() const = 0;
  virtual const std::vector<std::string>& categories() const = 0;
  virtual const std::vector<std::string>& verbs() const = 0;
  virtual const Subresources& subresources() const = 0;
  virtual bool built_in() const = 0;  // false for CRD kinds: no strategic merge patch, no protobuf
  virtual bool counts_generation() const = 0;  // metadata.generation grows when spec changes
  virtual bool storage_version() const = 0;
  // The type of a whole object (api/machinery/schema_node.h).
  virtual const SchemaNode& root() const = 0;
  // How names of this kind are checked: Kubernetes' message, "" when valid. `prefix`: a
  // generateName.
  virtual std::string check_name(std::string_view name, bool prefix) const = 0;

  // Where objects of this kind are stored, when that is under another kind (events.k8s.io Events as
  // core Events), and the two ways between their forms.
  virtual const Kind& stored_kind() const { return kind(); }
  virtual void to_stored(Json& /*object*/) const {}
  virtual void from_stored(Json& /*object*/) const {}

  // Pipeline, in this order. All work in place on a whole object (apiVersion, kind, metadata, …).
  // Removes what the schema does not know and says what it removed (metadata included). Native
  // kinds also lose null and zero values that their original types do not write, so that equal
  // objects have equal documents.
  virtual std::vector<FieldProblem> prune(Json& object) const = 0;
  // Wrong JSON types (a string where an integer belongs): Code::BadRequest with Kubernetes' decode
  // wording.
  virtual Result<void> check_types(const Json& object) const = 0;
  virtual void apply_defaults(Json& object) const = 0;
  // Quantities, int-or-string and times in canonical form ("0.5" -> "500m").
  virtual void canonicalize(Json& object) const = 0;
  // Every violation of the schema as a cause (FieldValueRequired, FieldValueInvalid,
  // FieldValueNotSupported, …); `old` for transition rules and immutable fields.
  virtual std::vector<Cause> validate(const Json& object, const Json* old) const = 0;

  // Patches. The result is neither pruned nor defaulted yet.
  virtual Result<void> strategic_merge(
      Json& target, const Json& patch) const = 0;  // UnsupportedMedia for CRD kinds

  // application/vnd.kubernetes.protobuf, whole envelope (k8s\0 + Unknown), to JSON.
  // UnsupportedMedia for CRD kinds.
  virtual Result<Json> decode_protobuf(std::string_view body) const = 0;

  // Table output.
  virtual const std::vector<TableColumn>& columns() const = 0;
  virtual JsonArray cells(const Json& object, WallTime now) const = 0;

  // Field labels that fieldSelector may use besides metadata.name and metadata.namespace, and their
  // value.
  virtual bool supports_field(std::string_view label) const = 0;
  virtual std::string field_value(const Json& object, std::string_view label) const = 0;
};
using KindSchemaPtr = std::shared_ptr<const KindSchema>;

// All served kinds. Built-in ones never change; CRD kinds come and go: readers take `all()`/`find`
// results as shared pointers and keep what they hold.
class SchemaSet {
 public:
  virtual ~SchemaSet() = default;
  virtual KindSchemaPtr find(std::string_view group, std::string_view version,
                             std::string_view plural) const = 0;
  virtual KindSchemaPtr find_kind(std::string_view api_version, std::string_view kind) const = 0;
  // Storage version of a resource name as Kind::resource() gives it.
  virtual KindSchemaPtr find_resource(std::string_view resource) const = 0;
  // In discovery order (core first).
  virtual std::vector<KindSchemaPtr> all() const = 0;
  // Request bodies that are no stored kinds (DeleteOptions, Binding, Eviction, Scale, TokenRequest,
  // reviews) as application/vnd.kubernetes.protobuf, whole envelope. `message_name`:
  // "meta/v1.DeleteOptions"; "" takes it from the envelope. apiVersion and kind come from the
  // envelope.
  virtual Result<Json> decode_protobuf_message(std::string_view message_name,
                                               std::string_view body) const = 0;
  // OpenAPI documents over all kinds. v3 per group version: key "api/v1", "apis/batch/v1".
  virtual std::vector<std::string> openapi_v3_paths() const = 0;
  virtual std::optional<std::string> openapi_v3(std::string_view path) const = 0;  // JSON text
  virtual std::string openapi_v2() const = 0;                                      // JSON text
};

// Loads the schemas compiled into the binary. Broken built-in schemas are a CHECK.
std::unique_ptr<SchemaSet> make_builtin_schemas();

}  // namespace krater::api
