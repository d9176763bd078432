#include "api/machinery/apply/ownership.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/machinery/patch.h"
#include "api/registry/body_checks.h"
#include "api/registry/deletion.h"
#include "api/registry/field_tracking.h"
#include "api/registry/hook_door.h"
#include "api/registry/metadata.h"
#include "api/registry/prepare.h"
#include "api/registry/projection.h"
#include "api/registry/scale.h"
#include "api/registry/status.h"
#include "model/definition_kinds.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

// A PUT of these makes them when they are not there.
bool created_by_update(const Kind& kind) {
  return kind == kinds::kService || kind == kinds::kEndpoints || kind == kinds::kEvent ||
         kind == kinds::kLease;
}

// Custom kinds, their definitions and leases are never overwritten unseen.
bool needs_revision(const KindSchema& schema) {
  return !schema.built_in() || schema.kind() == kinds::kLease ||
         schema.kind() == kinds::kCustomResourceDefinition;
}

// Whether storing an object again would only repeat what is there.
bool is_stored_as(const KindSchema& schema, const Object& current) {
  const CustomKind* custom = as_custom(schema);
  return custom == nullptr || custom->storage_api_version() == current.api_version();
}

// A change can make these use more of a quota: other types of services, larger claims.
bool may_grow(const Kind& kind) {
  return kind == kinds::kService || kind == kinds::kPersistentVolumeClaim;
}

void take_member(Json& target, const Json& source, std::string_view key) {
  if (const Json* value = find(source, {key})) {
    target.get_object()[key] = *value;
  } else {
    erase_path(target, {key});
  }
}

constexpr std::string_view kCertificateRequests = "certificatesigningrequests.certificates.k8s.io";

bool is_decision(const Json& condition) {
  const std::string type = text_at(condition, {"type"});
  return type == "Approved" || type == "Denied";
}

// Whether a certificate is granted is said at `approval`, all else of the status at `status`.
void divide_decision(std::string_view subresource, const Json& body, const Json& old, Json& out) {
  const bool decides = subresource == "approval";
  if (!decides && subresource != "status") return;
  JsonArray conditions;
  const auto take = [&](const Json& from, bool decisions) {
    const JsonArray* list = array_at(from, {"status", "conditions"});
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (is_decision((*list)[i]) == decisions) conditions.push_back((*list)[i]);
    }
  };
  take(decides ? body : old, true);
  take(decides ? old : body, false);
  if (conditions.empty()) return erase_path(out, {"status", "conditions"});
  set_path(out, {"status", "conditions"}, std::move(conditions));
}

// Whether what a client says of the metadata at `status` counts. The others set it back there, as
// all kinds of users do.
bool metadata_counts_at_status(const KindSchema& schema) {
  static const std::set<std::string, std::less<>> kSetBack{
      std::string(kCertificateRequests), "customresourcedefinitions.apiextensions.k8s.io",
      "validatingadmissionpolicies.admissionregistration.k8s.io",
      "volumeattachments.storage.k8s.io"};
  return schema.built_in() && !kSetBack.contains(schema.kind().resource());
}

// Labels, annotations and finalizers may come along with a status. Controllers of this process
// write the status alone.
void take_metadata(const Kind& kind, Json& out, Json body) {
  const JsonObject* said = object_at(body, {"metadata"});
  if (said == nullptr) return;
  Json kept(JsonObject{});
  kept.get_object()["metadata"] = *said;
  keep_metadata(kept, out);
  if (kind == kinds::kPod) take_member(kept.at("metadata"), out.at("metadata"), "ownerReferences");
  if (kind == kinds::kDeployment) take_member(kept.at("metadata"), out.at("metadata"), "labels");
  out.get_object()["metadata"] = std::move(kept.at("metadata"));
}

// What of the body counts at this endpoint; all else stays as it is.
Json narrowed(const KindSchema& schema, std::string_view subresource, Json body, const Json& old,
              bool in_process) {
  if (subresource.empty()) {
    if (schema.subresources().status) take_member(body, old, "status");
    // A namespace's finalizers are changed at `finalize` alone: without them what is in it stays.
    if (schema.kind() == kinds::kNamespace) {
      take_member(body, old, "status");
      take_member(body, old, "spec");
    }
    // What was asked for once is not changed; only its labels and the like are.
    if (schema.kind().resource() == kCertificateRequests) take_member(body, old, "spec");
    keep_metadata(body, old);
    return body;
  }
  Json out = without_managers(old);
  if (subresource == "status") {
    take_member(out, body, "status");
    if (!in_process && metadata_counts_at_status(schema)) take_metadata(schema.kind(), out, body);
  }
  if (subresource == "scale") {
    if (const auto replicas = replicas_in(schema, body)) set_replicas(schema, out, *replicas);
  }
  if (schema.kind().resource() == kCertificateRequests)
    divide_decision(subresource, body, old, out);
  if (subresource == "finalize") {
    const Json* finalizers = find(body, {"spec", "finalizers"});
    set_path(out, {"spec", "finalizers"}, finalizers != nullptr ? *finalizers : Json(JsonArray()));
  }
  if (subresource == "ephemeralcontainers") {
    if (const Json* containers = find(body, {"spec", "ephemeralContainers"})) {
      set_path(out, {"spec", "ephemeralContainers"}, *containers);
    }
  }
  return out;
}

Result<void> check_uid(const Kind& kind, const Json& body, const Object& old) {
  const std::string uid = text_at(body, {"metadata", "uid"});
  if (uid.empty() || uid == old.uid().text()) return {};
  return conflict(kind, old.name(),
                  "Precondition failed: UID in precondition: " + uid +
                      ", UID in object meta: " + old.uid().text());
}

Result<void> apply_patch(const KindSchema& schema, const client::PatchWrite& write, Json& target) {
  switch (write.type) {
    case client::PatchType::Json:
      return json_patch(target, write.patch);
    case client::PatchType::Merge:
      return merge_patch(target, write.patch);
    case client::PatchType::StrategicMerge:
      return schema.strategic_merge(target, write.patch);
    case client::PatchType::Apply:
      break;  // prepare_apply()
  }
  return internal_error("unknown patch type");
}

void name_type(const KindSchema& schema, Json& body) {
  body.get_object()["apiVersion"] = schema.kind().api_version();
  body.get_object()["kind"] = schema.kind().kind;
}

// What a patch makes of an object is the patch's fault.
Error refused_patch(Error error, const KindSchema& schema, const client::PatchWrite& write,
                    const Object& current) {
  const Kind& kind = schema.kind();
  const std::string prefix =
      kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " + kind.kind + ": ";
  if (error.code != Code::BadRequest) return error;
  std::string why = error.message.starts_with(prefix) ? error.message.substr(prefix.size())
                                                      : std::move(error.message);
  Json patched = *current.document();
  if (Result<void> again = apply_patch(schema, write, patched); !again)
    return std::move(again).error();
  take_managed_fields(patched);
  if (write.type == client::PatchType::StrategicMerge) name_type(schema, patched);
  return invalid(Kind(), "", {invalid_value("patch", quoted(to_json(patched)), why)});
}

}  // namespace

bool has_subresource(const KindSchema& schema, const RequestInfo& info, std::string_view name) {
  if (name == "status") return schema.subresources().status || info.in_process;
  if (name == "scale") return schema.subresources().scale;
  if (name == "approval") return schema.kind().resource() == kCertificateRequests;
  if (name == "finalize") return schema.kind() == kinds::kNamespace;
  if (name == "ephemeralcontainers") return schema.kind() == kinds::kPod;
  return name.empty();
}

// 0 and "" name none.
Result<void> check_revision(Change& change, const std::string& asked, const Object& current) {
  change.repeatable = asked.empty() || asked == "0";
  if (change.repeatable || asked == current.revision().text()) return {};
  return modified_conflict(change.kind, current.name());
}

Result<Change> change_object(const KindSchema& schema, Change change, std::string_view subresource,
                             Json body, const ObjectPtr& current, Owners owners,
                             const PrepareInput& in) {
  const std::shared_ptr<const Json> old = projected(schema, current)->document();
  TRY(check_uid(change.kind, body, *current));
  Json object = narrowed(schema, subresource, std::move(body), *old, in.info.in_process);
  if (changes_status_alone(schema, subresource))
    settle_status(schema, object, *old);
  else
    settle(schema, object, old.get());
  TRY(check_shape(schema, in.info, object));
  tidy_metadata(object, change.warnings);
  if (as_custom(schema) != nullptr) warn_of_finalizers(object, old.get(), change.warnings);
  // A list as stored is not needed again: without changes nothing is written.
  FieldManagers noted = owners.as_stored ? std::move(owners.list) : owners.list;
  if (!owners.settled && !noted.empty()) {
    record_update(owned_kind(schema), old.get(), object, field_writer(in.info, subresource, in.now),
                  noted);
  }
  Admission admission{Operation::Update,
                      change.kind,
                      change.place.name_space,
                      change.place.name,
                      std::string(subresource),
                      object,
                      old.get(),
                      in.view,
                      in.env.settings,
                      in.env.rng,
                      in.now,
                      change.warnings};
  if (Result<void> mutated = mutate(admission); !mutated) {
    return explained(std::move(mutated).error(), change.kind, change.place.name);
  }
  const NarrowBody narrow = [&](Json patched) {
    return narrowed(schema, subresource, std::move(patched), *old, in.info.in_process);
  };
  TRY(hooks_on_update(schema, admission, narrow, in));
  const bool same = same_but_managers(object, *old);
  if (same && is_stored_as(schema, *current) &&
      (owners.as_stored || same_but_times(owners.list, managers_of(*old)))) {
    TRY(conclude(change, Change::What::Nothing, object, current));
    return change;
  }
  count_generation(schema, object, *old);
  TRY(approve(schema, admission, in.info));
  if (subresource.empty() && may_grow(change.kind)) TRY(charge(admission, change));
  set_managers(object, std::move(same ? owners.list : noted));
  to_storage_version(schema, object);
  TRY(conclude(change, may_go(change.kind, object) ? Change::What::Remove : Change::What::Put,
               object, current));
  return change;
}

Result<Change> prepare_update(const client::UpdateWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr served, schema_of(in.env.schemas, write.kind));
  if (!has_subresource(*served, in.info, write.subresource)) return not_found(write.kind, "");
  Change change;
  Json body = write.object;
  Json listed = take_managed_fields(body);
  TRY_ASSIGN(const KindSchemaPtr schema,
             decode_to_stored(served, write.name_space, in, body, change.warnings));
  TRY(check_body_name(write.name, body));
  change.kind = schema->kind();
  change.place = ObjectKey::of(change.kind, write.name_space, write.name);
  TRY_ASSIGN(const ObjectPtr current, in.view.get(change.kind, write.name_space, write.name));
  const std::string revision = text_at(body, {"metadata", "resourceVersion"});
  if (!current) {
    if (!created_by_update(change.kind) || !write.subresource.empty() || !revision.empty()) {
      return not_found(change.kind, write.name);
    }
    return prepare_create(client::CreateWrite{write.kind, write.name_space, write.object}, in);
  }
  if (revision.empty() && needs_revision(*schema) && !in.info.in_process) {
    return invalid(
        change.kind, write.name,
        {invalid_value("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  TRY(check_revision(change, revision, *current));
  Owners owners = owners_sent(std::move(listed), current->document().get(), write.subresource);
  return change_object(*schema, std::move(change), write.subresource, std::move(body), current,
                       std::move(owners), in);
}

Result<Change> prepare_patch(const client::PatchWrite& write, const PrepareInput& in) {
  if (write.type == client::PatchType::Apply) return prepare_apply(write, in);
  TRY_ASSIGN(const KindSchemaPtr served, schema_of(in.env.schemas, write.kind));
  if (!has_subresource(*served, in.info, write.subresource)) return not_found(write.kind, "");
  Change change;
  change.kind = served->stored_kind();
  change.place = ObjectKey::of(change.kind, write.name_space, write.name);
  TRY_ASSIGN(const ObjectPtr current, existing(in.view, change.kind, write.name_space, write.name));
  if (write.only_if && *write.only_if != current->revision())
    return modified_conflict(change.kind, write.name);

  Json body = *projected(*served, current)->document();
  TRY(apply_patch(*served, write, body));
  Owners owners =
      owners_sent(take_managed_fields(body), current->document().get(), write.subresource);
  // A patch that leaves the revision alone carries the current one along: it is pinned only if it
  // says another.
  const std::string revision = text_at(body, {"metadata", "resourceVersion"});
  const bool pinned =
      write.only_if.has_value() || find(write.patch, {"metadata", "resourceVersion"}) != nullptr;
  if (pinned) TRY(check_revision(change, revision, *current));
  if (!pinned && !revision.empty() && revision != current->revision().text()) {
    return modified_conflict(change.kind, write.name);
  }
  change.repeatable = !pinned;
  // A strategic merge does not look at what type of object the patch says it is of.
  if (write.type == client::PatchType::StrategicMerge) name_type(*served, body);
  Result<KindSchemaPtr> decoded =
      decode_to_stored(served, write.name_space, in, body, change.warnings);
  if (!decoded)
    return refused_patch(std::move(decoded).error(), *served, write, *projected(*served, current));
  const KindSchemaPtr schema = *decoded;
  TRY(check_body_name(write.name, body));
  TRY(check_patched_uid(change.kind, body, *current));
  return change_object(*schema, std::move(change), write.subresource, std::move(body), current,
                       std::move(owners), in);
}

}  // namespace krater::api
