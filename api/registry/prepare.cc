#include "api/registry/prepare.h"

#include <algorithm>
#include <iterator>

#include "api/machinery/custom/custom_kind.h"
#include "api/registry/field_tracking.h"
#include "api/registry/hook_door.h"
#include "api/registry/metadata.h"
#include "api/registry/policy_review.h"
#include "api/registry/scale.h"
#include "api/registry/status.h"
#include "base/check.h"

namespace krater::api {

Result<Change> prepare(const client::Write& write, const PrepareInput& in) {
  struct Dispatch {
    const PrepareInput& in;
    Result<Change> operator()(const client::CreateWrite& w) const { return prepare_create(w, in); }
    Result<Change> operator()(const client::UpdateWrite& w) const {
      return w.subresource == kScale ? prepare_scale(w, in) : prepare_update(w, in);
    }
    Result<Change> operator()(const client::PatchWrite& w) const {
      return w.subresource == kScale ? prepare_scale(w, in) : prepare_patch(w, in);
    }
    Result<Change> operator()(const client::DeleteWrite& w) const { return prepare_delete(w, in); }
    Result<Change> operator()(const client::BindWrite& w) const { return prepare_bind(w, in); }
  };
  Result<Change> change = std::visit(Dispatch{in}, write);
  if (change) {
    TRY(review(write, *change, in));
    TRY(review_by_hooks(write, *change, in));
  }
  return change;
}

Result<const std::vector<HookPtr>*> HookDesk::of(HookKind kind, const View& view) {
  std::optional<std::vector<HookPtr>>& known = kind == HookKind::Mutating ? mutating : validating;
  if (!known) {
    TRY_ASSIGN(known, cache.hooks(kind, view));
  }
  return &*known;
}

Result<KindSchemaPtr> schema_of(const SchemaSet& schemas, const Kind& kind) {
  KindSchemaPtr schema = schemas.find(kind.group, kind.version, kind.plural);
  if (!schema) return not_found(kind, "");
  return schema;
}

KindSchemaPtr stored_schema(const SchemaSet& schemas, const KindSchemaPtr& served) {
  if (served->stored_kind() == served->kind()) return served;
  KindSchemaPtr stored = schemas.find_resource(served->stored_kind().resource());
  CHECK_MSG(stored != nullptr, served->stored_kind().resource());
  return stored;
}

Result<KindSchemaPtr> decode_to_stored(const KindSchemaPtr& schema, std::string_view name_space,
                                       const PrepareInput& in, Json& object,
                                       std::vector<std::string>& warnings) {
  TRY(decode_body(*schema, name_space, in.info, object, warnings));
  // Versions of users' kinds are judged as they are asked for; they differ in name alone.
  if (as_custom(*schema) != nullptr) return schema;
  KindSchemaPtr stored = stored_schema(in.env.schemas, schema);
  if (stored == schema) return stored;
  // What the served form demands and the stored one does not is checked while it has that form.
  settle(*schema, object);
  if (Causes causes = schema->validate(object, nullptr); !causes.empty()) {
    return invalid(schema->kind(), text_at(object, {"metadata", "name"}), std::move(causes));
  }
  schema->to_stored(object);
  set_path(object, {"apiVersion"}, Json(stored->kind().api_version()));
  TRY(place_body(*stored, name_space, object));
  return stored;
}

Result<ObjectPtr> existing(const View& view, const Kind& kind, std::string_view name_space,
                           std::string_view name) {
  TRY_ASSIGN(ObjectPtr object, view.get(kind, name_space, name));
  if (!object) return not_found(kind, name);
  return object;
}

void to_storage_version(const KindSchema& schema, Json& object) {
  if (const CustomKind* custom = as_custom(schema))
    set_path(object, {"apiVersion"}, Json(custom->storage_api_version()));
}

Result<void> conclude(Change& change, Change::What what, const Json& object,
                      const ObjectPtr& before) {
  change.what = what;
  change.before = before;
  if (what == Change::What::Nothing) return {};
  change.encoded = encode_object(object);
  if (const Result<void> fits = check_size(change.encoded.bytes.size()); !fits) {
    // Rather an object whose owners are forgotten than none.
    change.encoded = encode_object(without_managers(object));
    TRY(check_size(change.encoded.bytes.size()));
  }
  const std::set<std::string> now =
      what == Change::What::Put ? claims_of(change.kind, object) : std::set<std::string>();
  const std::set<std::string> had =
      before ? claims_of(change.kind, *before->document()) : std::set<std::string>();
  std::set_difference(now.begin(), now.end(), had.begin(), had.end(),
                      std::inserter(change.claims_taken, change.claims_taken.end()));
  std::set_difference(had.begin(), had.end(), now.begin(), now.end(),
                      std::inserter(change.claims_released, change.claims_released.end()));
  change.expect = before ? storage::Expect::exactly(before->revision()) : storage::Expect::absent();
  return {};
}

}  // namespace krater::api
