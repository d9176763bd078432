#include <limits>

#include "api/machinery/patch.h"
#include "api/registry/projection.h"
#include "api/registry/scale.h"
#include "api/registry/status.h"

namespace krater::api {
namespace {

const Kind kScaleKind{"autoscaling", "v1", "Scale", "scales", true};

Result<ObjectPtr> scaled_object(const KindSchema& schema, std::string_view name_space,
                                std::string_view name, const PrepareInput& in) {
  if (!schema.subresources().scale) return not_found(schema.kind(), "");
  TRY_ASSIGN(const ObjectPtr object, existing(in.view, schema.stored_kind(), name_space, name));
  return projected(schema, object);
}

Result<std::int64_t> wanted_replicas(const Json& scale, std::string_view name) {
  const Json* value = find(scale, {"spec", "replicas"});
  if (value == nullptr || value->is_null()) return 0;
  const auto replicas = as_int(*value);
  if (!replicas || *replicas > std::numeric_limits<std::int32_t>::max()) {
    return bad_request(
        "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal " +
        std::string(value->is_number()   ? "number"
                    : value->is_string() ? "string"
                                         : "value") +
        " into Go struct field ScaleSpec.spec.replicas of type int32");
  }
  if (*replicas < 0) {
    return invalid(kScaleKind, name,
                   {invalid_value("spec.replicas", std::to_string(*replicas),
                                  "must be greater than or equal to 0")});
  }
  return *replicas;
}

Result<Change> resize(const KindSchema& schema, const Object& current, const Json& scale,
                      const PrepareInput& in) {
  const std::string& name = current.name();
  const std::string body_name = text_at(scale, {"metadata", "name"});
  if (!body_name.empty() && body_name != name) {
    return bad_request("the name of the object (" + body_name +
                       ") does not match the name on the URL (" + name + ")");
  }
  const std::string revision = text_at(scale, {"metadata", "resourceVersion"});
  const bool pinned = !revision.empty() && revision != "0";
  if (pinned && revision != current.revision().text())
    return modified_conflict(schema.stored_kind(), name);
  TRY_ASSIGN(const std::int64_t replicas, wanted_replicas(scale, name));
  Json object = *current.document();
  set_replicas(schema, object, replicas);
  if (const std::string uid = text_at(scale, {"metadata", "uid"}); !uid.empty())
    set_path(object, {"metadata", "uid"}, Json(uid));
  TRY_ASSIGN(Change change,
             prepare_update(client::UpdateWrite{schema.stored_kind(), current.name_space(), name,
                                                std::move(object), std::string(kScale)},
                            in));
  change.repeatable = !pinned;
  return change;
}

// The configuration of a Scale is one of the scaled object that says nothing but its size.
Result<Change> apply_scale(const KindSchema& schema, const client::PatchWrite& write,
                           const PrepareInput& in) {
  const Json& scale = write.patch;
  const std::string version = text_at(scale, {"apiVersion"}), kind = text_at(scale, {"kind"});
  if (version != "autoscaling/v1" || kind != kScaleKind.kind) {
    return bad_request("Incorrect version specified in apply patch. Specified patch version: " +
                       version + ", expected: autoscaling/v1");
  }
  TRY_ASSIGN(const std::int64_t replicas, wanted_replicas(scale, write.name));
  client::PatchWrite inner = write;
  inner.patch = new_object(schema.kind(), write.name_space, write.name);
  for (const std::string_view field : {"name", "namespace", "uid", "resourceVersion"}) {
    if (const Json* given = find(scale, {"metadata", field}))
      set_path(inner.patch, {"metadata", field}, *given);
  }
  if (find(scale, {"spec", "replicas"}) != nullptr) set_replicas(schema, inner.patch, replicas);
  return prepare_apply(inner, in);
}

}  // namespace

Result<Change> prepare_scale(const client::UpdateWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr schema, schema_of(in.env.schemas, write.kind));
  TRY_ASSIGN(const ObjectPtr current, scaled_object(*schema, write.name_space, write.name, in));
  return resize(*schema, *current, write.object, in);
}

Result<Change> prepare_scale(const client::PatchWrite& write, const PrepareInput& in) {
  TRY_ASSIGN(const KindSchemaPtr schema, schema_of(in.env.schemas, write.kind));
  TRY_ASSIGN(const ObjectPtr current, scaled_object(*schema, write.name_space, write.name, in));
  if (write.only_if && *write.only_if != current->revision())
    return modified_conflict(schema->stored_kind(), write.name);
  // An object that says no size yet can be given one.
  Json document = *current->document();
  if (!replicas_in(*schema, document)) set_replicas(*schema, document, 0);
  TRY_ASSIGN(Json scale, scale_of(*schema, document));
  // What the patch does not say stays as it is, whatever it will be when the patch is stored.
  erase_path(scale, {"metadata", "resourceVersion"});
  switch (write.type) {
    case client::PatchType::Json:
      TRY(json_patch(scale, write.patch));
      break;
    case client::PatchType::Merge:
    case client::PatchType::StrategicMerge:  // a Scale has no lists
      TRY(merge_patch(scale, write.patch));
      break;
    case client::PatchType::Apply:
      return apply_scale(*schema, write, in);
  }
  TRY_ASSIGN(Change change, resize(*schema, *current, scale, in));
  if (write.only_if) change.repeatable = false;
  return change;
}

}  // namespace krater::api
