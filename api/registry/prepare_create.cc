#include "api/admission/quota.h"
#include "api/machinery/apply/ownership.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/registry/body_checks.h"
#include "api/registry/field_tracking.h"
#include "api/registry/hook_door.h"
#include "api/registry/keys.h"
#include "api/registry/metadata.h"
#include "api/registry/prepare.h"
#include "api/registry/status.h"
#include "api/registry/task_templates.h"
#include "model/definition_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

// Kubelets register a node with its status in one request; everywhere else a new object has none.
bool keeps_status_on_create(const Kind& kind) {
  return kind == kinds::kNode;
}

// Nothing new in a namespace that is not there, or that is about to go. The check makes it hold at
// the commit too.
Result<void> enter_namespace(const View& view, Change& change) {
  const std::string& name = change.place.name_space;
  TRY_ASSIGN(const ObjectPtr space, view.get(kinds::kNamespace, "", name));
  if (!space) return not_found(kinds::kNamespace, name);
  if (space->deletion()) {
    return forbidden(
        change.kind, change.place.name,
        "unable to create new content in namespace " + name + " because it is being terminated",
        {{"NamespaceTerminating", "namespace " + name + " is being terminated",
          "metadata.namespace"}});
  }
  if (space->revision() == Revision()) return {};  // made by this very transaction
  storage::Op check;
  check.what = storage::Op::What::Check;
  check.key = store_key(kinds::kNamespace, "", name);
  check.expect = storage::Expect::exactly(space->revision());
  change.checks.push_back(std::move(check));
  return {};
}

// Nothing new of a user's kind that is about to go, nor at the commit of one that is gone.
Result<void> enter_kind(const KindSchema& schema, Change& change) {
  const CustomKind* custom = as_custom(schema);
  if (custom == nullptr) return {};
  if (custom->terminating()) {
    return make_error(Code::MethodNotAllowed,
                      "create not allowed while custom resource definition is terminating");
  }
  storage::Op check;
  check.what = storage::Op::What::Check;
  check.key = store_key(kinds::kCustomResourceDefinition, "", custom->definition());
  check.expect = storage::Expect::present();
  change.checks.push_back(std::move(check));
  return {};
}

Result<void> name_it(const PrepareInput& in, Json& object, Change& change) {
  std::string name = text_at(object, {"metadata", "name"});
  const std::string base = text_at(object, {"metadata", "generateName"});
  if (name.empty() && base.empty()) {
    return invalid(change.kind, "",
                   {required_value("metadata.name", "name or generateName is required")});
  }
  if (name.empty()) {
    name = generate_name(base, in.env.rng);
    change.generated_name = true;
    set_path(object, {"metadata", "name"}, Json(name));
  }
  change.place = ObjectKey::of(change.kind, text_at(object, {"metadata", "namespace"}), name);
  return {};
}

Result<void> check_name(const KindSchema& schema, const Json& object, const Change& change) {
  Causes causes;
  const auto check = [&](std::string_view field, const std::string& name, bool prefix) {
    if (const std::string problem = schema.check_name(name, prefix); !problem.empty())
      causes.push_back(invalid_value("metadata." + std::string(field), quoted(name), problem));
  };
  const std::string base = text_at(object, {"metadata", "generateName"});
  if (!base.empty()) check("generateName", base, true);
  check("name", change.place.name, false);
  if (causes.empty()) return {};
  return invalid(change.kind, change.place.name, std::move(causes));
}

}  // namespace

Result<void> charge(const Admission& admission, Change& change) {
  Result<std::vector<QuotaCharge>> charges = charge_quotas(admission);
  if (!charges) return explained(std::move(charges).error(), change.kind, change.place.name);
  for (const QuotaCharge& one : *charges) {
    Change quota;
    quota.kind = kinds::kResourceQuota;
    quota.place = one.before->key();
    TRY(conclude(quota, Change::What::Put, one.after, one.before));
    change.along.push_back(std::move(quota));
  }
  return {};
}

Result<Change> create_object(const KindSchemaPtr& served, Change change,
                             std::string_view name_space, Json object, Owners owners,
                             const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr schema,
             decode_to_stored(served, name_space, in, object, change.warnings));
  change.kind = schema->kind();
  change.repeatable = true;
  TRY(name_it(in, object, change));
  TRY(begin_metadata(*schema, object, in.env.rng.uuid(), in.now));
  if (schema->subresources().status && !keeps_status_on_create(change.kind))
    object.get_object().erase("status");
  settle(*schema, object);
  TRY(check_shape(*schema, in.info, object));
  tidy_metadata(object, change.warnings);
  if (as_custom(*schema) != nullptr) warn_of_finalizers(object, nullptr, change.warnings);
  // What this process makes for itself is tracked once somebody applies it.
  if (!owners.settled && !in.info.in_process) {
    record_update(owned_kind(*schema), nullptr, object, field_writer(in.info, "", in.now),
                  owners.list);
  }

  TRY(enter_kind(*schema, change));
  if (change.kind.namespaced) TRY(enter_namespace(in.view, change));
  Admission admission{Operation::Create, change.kind, change.place.name_space,
                      change.place.name, "",          object,
                      nullptr,           in.view,     in.env.settings,
                      in.env.rng,        in.now,      change.warnings};
  if (Result<void> mutated = mutate(admission); !mutated) {
    return explained(std::move(mutated).error(), change.kind, change.place.name);
  }
  TRY(hooks_on_create(*schema, admission, change, keeps_status_on_create(change.kind), in));
  TRY(check_name(*schema, object, change));
  TRY(approve(*schema, admission, in.info));
  if (Result<void> fine = check_task_templates(in.env.schemas, change.kind, object); !fine) {
    return explained(std::move(fine).error(), change.kind, change.place.name);
  }

  TRY_ASSIGN(const ObjectPtr there,
             in.view.get(change.kind, change.place.name_space, change.place.name));
  if (there && !change.generated_name) return already_exists(change.kind, change.place.name);
  change.created = true;
  TRY(charge(admission, change));
  set_managers(object, std::move(owners.list));
  to_storage_version(*schema, object);
  TRY(conclude(change, Change::What::Put, object, nullptr));
  return change;
}

Result<Change> prepare_create(const client::CreateWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr served, schema_of(in.env.schemas, write.kind));
  if (!write.subresource.empty())
    return not_found(write.kind, "");  // the server's business, not objects
  Json object = write.object;
  Owners owners = owners_sent(take_managed_fields(object), nullptr, "");
  return create_object(served, Change(), write.name_space, std::move(object), std::move(owners),
                       in);
}

}  // namespace krater::api
