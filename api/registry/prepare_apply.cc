// Server-side apply: from a configuration and the live object to the object both come to, which
// then takes the way of every create or update.
#include "api/machinery/apply/merge.h"
#include "api/machinery/apply/ownership.h"
#include "api/machinery/keep_spelling.h"
#include "api/registry/body_checks.h"
#include "api/registry/field_tracking.h"
#include "api/registry/metadata.h"
#include "api/registry/prepare.h"
#include "api/registry/projection.h"
#include "api/registry/status.h"

namespace krater::api {
namespace {

// "default/p; /v1, Kind=Pod"
std::string subject_of(const Kind& kind, const client::PatchWrite& write) {
  return (kind.namespaced ? write.name_space + "/" : "") + write.name + "; " + kind.group + "/" +
         kind.version + ", Kind=" + kind.kind;
}

Result<void> check_config(const KindSchema& schema, const client::PatchWrite& write, Json& config) {
  const Kind& kind = schema.kind();
  TRY(check_applied_type(kind, config, false));
  TRY(place_body(schema, write.name_space, config));
  if (!find(config, {"metadata", "name"})) set_path(config, {"metadata", "name"}, Json(write.name));
  TRY(check_body_name(write.name, config));
  const Json* managed = find(config, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null())
    return bad_request("metadata.managedFields must be nil");
  TRY(check_configuration(schema.root(), config, subject_of(kind, write)));
  return check_body_types(schema, config);
}

void keep_only(Json& config, std::string_view member) {
  JsonObject kept;
  for (const std::string_view key : {std::string_view("apiVersion"), std::string_view("kind")}) {
    kept[key] = config.at(key);
  }
  JsonObject metadata;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion"}) {
    if (const Json* value = find(config, {"metadata", key})) metadata[key] = *value;
  }
  kept["metadata"] = std::move(metadata);
  if (const Json* value = find(config, {member})) kept[member] = *value;
  config = std::move(kept);
}

// What of the configuration counts at this door.
void narrow(const KindSchema& schema, std::string_view subresource, Json& config) {
  if (subresource.empty()) {
    if (schema.subresources().status) config.get_object().erase("status");
    return;
  }
  if (subresource == "status" || subresource == "approval") return keep_only(config, "status");
  if (subresource == "scale") {
    const Json* found = find(config, {"spec", "replicas"});
    const Json replicas = found == nullptr ? Json() : *found;
    keep_only(config, "spec");
    config.get_object().erase("spec");
    if (!replicas.is_null()) set_path(config, {"spec", "replicas"}, replicas);
    return;
  }
  Json containers;
  if (const Json* found = find(config, {"spec", "ephemeralContainers"})) containers = *found;
  keep_only(config, "spec");
  config.get_object().erase("spec");
  if (!containers.is_null())
    set_path(config, {"spec", "ephemeralContainers"}, std::move(containers));
}

Result<Change> apply_to_nothing(const KindSchemaPtr& served, const client::PatchWrite& write,
                                const Json& config, const PrepareInput& in) {
  if (in.info.create_refused) return *in.info.create_refused;
  const Kind& kind = served->kind();
  if (const std::string uid = text_at(config, {"metadata", "uid"}); !uid.empty()) {
    return conflict(kind, write.name,
                    "uid mismatch: the provided object specified uid " + uid +
                        ", and no existing object was found");
  }
  if (!text_at(config, {"metadata", "resourceVersion"}).empty())
    return modified_conflict(kind, write.name);
  const Json nothing = JsonObject{
      {"apiVersion", kind.api_version()}, {"kind", kind.kind}, {"metadata", JsonObject()}};
  TRY_ASSIGN(Applied applied,
             apply_configuration(owned_kind(*served), nothing, config,
                                 field_writer(in.info, "", in.now), in.info.force, {}));
  Change change;
  change.applies = true;
  return create_object(served, std::move(change), write.name_space, std::move(applied.object),
                       Owners{std::move(applied.managers), false, true}, in);
}

}  // namespace

Result<Change> prepare_apply(const client::PatchWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr served, schema_of(in.env.schemas, write.kind));
  if (!has_subresource(*served, in.info, write.subresource)) return not_found(write.kind, "");
  Json config = write.patch;
  TRY(check_config(*served, write, config));
  served->canonicalize(config);
  narrow(*served, write.subresource, config);

  Change change;
  change.kind = served->stored_kind();
  change.place = ObjectKey::of(change.kind, write.name_space, write.name);
  TRY_ASSIGN(const ObjectPtr current, in.view.get(change.kind, write.name_space, write.name));
  if (!current && write.subresource.empty()) return apply_to_nothing(served, write, config, in);
  if (!current) return not_found(change.kind, write.name);
  if (write.only_if && *write.only_if != current->revision())
    return modified_conflict(change.kind, write.name);
  TRY(check_revision(change, text_at(config, {"metadata", "resourceVersion"}), *current));
  change.repeatable = change.repeatable && !write.only_if;

  Json live = without_managers(*projected(*served, current)->document());
  if (served->built_in()) keep_spelling(served->root(), config, live);
  FieldManagers managers = managers_of(*current->document());
  adopt_untracked(owned_kind(*served), live, in.now, managers);
  TRY_ASSIGN(Applied applied, apply_configuration(owned_kind(*served), live, config,
                                                  field_writer(in.info, write.subresource, in.now),
                                                  in.info.force, std::move(managers)));
  Json body = std::move(applied.object);
  TRY_ASSIGN(const KindSchemaPtr schema,
             decode_to_stored(served, write.name_space, in, body, change.warnings));
  TRY(check_patched_uid(change.kind, body, *current));
  return change_object(*schema, std::move(change), write.subresource, std::move(body), current,
                       Owners{std::move(applied.managers), false, true}, in);
}

}  // namespace krater::api
