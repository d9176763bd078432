#include <algorithm>

#include "api/registry/deletion.h"
#include "api/registry/prepare.h"
#include "api/registry/status.h"

namespace krater::api {
Result<void> check_preconditions(const Kind& kind, const client::DeleteWrite& write,
                                 const Object& current) {
  if (write.only_uid && *write.only_uid != current.uid()) {
    return conflict(kind, write.name,
                    "Precondition failed: UID in precondition: " + write.only_uid->text() +
                        ", UID in object meta: " + current.uid().text());
  }
  if (write.only_if && *write.only_if != current.revision()) {
    return conflict(
        kind, write.name,
        "Precondition failed: ResourceVersion in precondition: " + write.only_if->text() +
            ", ResourceVersion in object meta: " + current.revision().text());
  }
  return {};
}

namespace {

bool collector_told(const Json& object) {
  const JsonArray* finalizers = array_at(object, {"metadata", "finalizers"});
  return finalizers != nullptr &&
         (std::find(finalizers->begin(), finalizers->end(), Json("orphan")) != finalizers->end() ||
          std::find(finalizers->begin(), finalizers->end(), Json("foregroundDeletion")) !=
              finalizers->end());
}

// Two kinds from before there was a collector keep their pods, unless the client says otherwise.
client::DeleteWrite with_default_policy(client::DeleteWrite write, const Kind& kind,
                                        const Json& object, const PrepareInput& in,
                                        std::vector<std::string>& warnings) {
  const bool unsaid = write.propagation == client::Propagation::Default && !in.info.in_process;
  if (!unsaid) return write;
  if (kind == kinds::kJob) {
    warnings.push_back(
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
        "this warning");
  } else if (kind.resource() != "replicationcontrollers") {
    return write;
  }
  if (!collector_told(object)) write.propagation = client::Propagation::Orphan;
  return write;
}

}  // namespace

Result<Change> prepare_delete(const client::DeleteWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr schema, schema_of(in.env.schemas, write.kind));
  Change change;
  change.kind = schema->stored_kind();
  change.place = ObjectKey::of(change.kind, write.name_space, write.name);
  change.repeatable = !write.only_if.has_value();
  TRY_ASSIGN(const ObjectPtr current, existing(in.view, change.kind, write.name_space, write.name));
  TRY(check_preconditions(change.kind, write, *current));

  Json object = *current->document();
  Admission admission{
      Operation::Delete, change.kind, write.name_space, write.name, "",     object,
      nullptr,           in.view,     in.env.settings,  in.env.rng, in.now, change.warnings};
  if (Result<void> admitted = admit(admission); !admitted) {
    return explained(std::move(admitted).error(), change.kind, write.name);
  }
  const client::DeleteWrite meant =
      with_default_policy(write, change.kind, object, in, change.warnings);
  switch (decide_deletion(change.kind, object, meant, in.now)) {
    case Deletion::Nothing:
      TRY(conclude(change, Change::What::Nothing, object, current));
      break;
    case Deletion::Mark:
      TRY(conclude(change, Change::What::Put, object, current));
      break;
    case Deletion::Remove:
      TRY(conclude(change, Change::What::Remove, object, current));
      break;
  }
  return change;
}

}  // namespace krater::api
