// From one write and a view of the objects to the change it comes to: everything but the store. A
// lost race is answered by preparing again against a newer view. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/registry/encode.h"
#include "api/registry/field_tracking.h"
#include "api/registry/pipeline.h"
#include "api/registry/view.h"
#include "api/webhook/hook_cache.h"
#include "api/webhook/ledger.h"
#include "base/result.h"
#include "client/object_client.h"
#include "storage/store.h"

namespace krater::api {

struct Change {
  enum class What { Nothing, Put, Remove };
  What what = What::Nothing;
  Kind kind;
  ObjectKey place;
  storage::Expect expect;  // of the object's own key
  Encoded encoded;         // Put: the new state; Remove: the last one
  ObjectPtr before;        // null for a creation
  std::set<std::string> claims_taken, claims_released;
  std::vector<storage::Op> checks;  // further conditions, such as the namespace being there
  std::vector<Change> along{};      // what else is stored with it: quotas that are charged
  bool created = false;
  bool generated_name = false;
  // An apply: when the name has been taken meanwhile, it applies to that object instead.
  bool applies = false;
  // The writer named no revision: when somebody else was faster, the write is prepared again.
  bool repeatable = false;
  std::vector<std::string> warnings;
};

// Which webhooks there are, and what they have said so far.
struct HookDesk {
  HookCache& cache;
  HookLedger& ledger;
  // Looked up once for all writes of a transaction.
  std::optional<std::vector<HookPtr>> mutating{}, validating{};

  Result<const std::vector<HookPtr>*> of(HookKind kind, const View& view);
};

struct PrepareInput {
  const PipelineEnv& env;
  const RequestInfo& info;
  View& view;
  WallTime now;
  HookDesk* hooks = nullptr;  // null: webhooks are not asked
};

Result<Change> prepare(const client::Write& write, const PrepareInput& in);

// One for each member of client::Write.
Result<Change> prepare_create(const client::CreateWrite& write, const PrepareInput& in);
Result<Change> prepare_update(const client::UpdateWrite& write, const PrepareInput& in);
Result<Change> prepare_patch(const client::PatchWrite& write, const PrepareInput& in);
Result<Change> prepare_apply(const client::PatchWrite& write, const PrepareInput& in);
Result<Change> prepare_delete(const client::DeleteWrite& write, const PrepareInput& in);
Result<Change> prepare_bind(const client::BindWrite& write, const PrepareInput& in);

// Shared by them.
Result<KindSchemaPtr> schema_of(const SchemaSet& schemas, const Kind& kind);
// Of the kind that objects of a served kind are stored as: itself, for all but events.k8s.io.
KindSchemaPtr stored_schema(const SchemaSet& schemas, const KindSchemaPtr& served);
// Decodes a body of a served kind and brings it into the form it is stored in; answers that form's
// schema.
Result<KindSchemaPtr> decode_to_stored(const KindSchemaPtr& schema, std::string_view name_space,
                                       const PrepareInput& in, Json& object,
                                       std::vector<std::string>& warnings);
bool has_subresource(const KindSchema& schema, const RequestInfo& info, std::string_view name);
// The second half of creates and of updates; bodies come without managedFields.
Result<Change> create_object(const KindSchemaPtr& served, Change change,
                             std::string_view name_space, Json object, Owners owners,
                             const PrepareInput& in);
Result<Change> change_object(const KindSchema& schema, Change change, std::string_view subresource,
                             Json body, const ObjectPtr& current, Owners owners,
                             const PrepareInput& in);
// The namespace's quotas as they stand with this object, to be stored in its own transaction.
Result<void> charge(const Admission& admission, Change& change);
// Notes whether the write is bound to a revision; Code::Conflict when it is, to another one.
Result<void> check_revision(Change& change, const std::string& asked, const Object& current);
// Code::NotFound when absent.
Result<ObjectPtr> existing(const View& view, const Kind& kind, std::string_view name_space,
                           std::string_view name);
// What a delete says of the object it means. Code::Conflict when it is another, or has changed.
Result<void> check_preconditions(const Kind& kind, const client::DeleteWrite& write,
                                 const Object& current);
// Of users' kinds: from the version that was asked for to the one that is stored.
void to_storage_version(const KindSchema& schema, Json& object);
// Fills a change of an existing object: what became of it, its claims, its expectation.
Result<void> conclude(Change& change, Change::What what, const Json& object,
                      const ObjectPtr& before);

}  // namespace krater::api
