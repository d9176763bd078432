#include "api/registry/hook_door.h"

#include <array>

#include "api/machinery/custom/custom_kind.h"
#include "api/registry/commit.h"
#include "api/registry/hook_review.h"
#include "api/registry/metadata.h"
#include "api/registry/scale.h"
#include "api/registry/status.h"

namespace krater::api {
namespace {

const Kind kScaleKind{"autoscaling", "v1", "Scale", "scales", true};
const Kind kBindingKind{"", "v1", "Binding", "bindings", true};
const Kind kEvictionKind{"policy", "v1", "Eviction", "evictions", true};

// What a new object gets only after its webhooks.
constexpr std::array<std::string_view, 3> kGivenLater{"uid", "creationTimestamp", "generation"};

// A namespace's requests are about that namespace.
HookSubject subject_of(Operation operation, const Kind& kind, const std::string& name_space,
                       const std::string& name, std::string subresource = {}) {
  const std::string& space = kind == kinds::kNamespace ? name : name_space;
  const Kind& shown = subresource == kScale ? kScaleKind : kind;
  return {operation, kind, shown, space, name, std::move(subresource)};
}

// A patched object as every body is read: types, unknown fields dropped without a word.
Result<void> read_patched(const KindSchema& schema, std::string_view name_space, Json& object) {
  RequestInfo lenient;
  lenient.field_validation = FieldValidation::Ignore;
  std::vector<std::string> unseen;
  if (!object.is_object()) return bad_request("the patched object is not an object");
  return decode_body(schema, name_space, lenient, object, unseen);
}

void settle_patched(const KindSchema& schema, Json& object, const Json* old) {
  std::vector<std::string> unseen;
  settle(schema, object, old);
  tidy_metadata(object, unseen);
}

Result<void> built_in_again(Admission& admission) {
  if (Result<void> mutated = mutate(admission); !mutated)
    return explained(std::move(mutated).error(), admission.kind, admission.name);
  return {};
}

Result<Json> shown_scale(const KindSchema& schema, const Json* object) {
  if (object == nullptr) return Json();
  return scale_of(schema, *object);
}

Json binding_json(const client::BindWrite& write) {
  JsonObject metadata{{"name", write.pod}, {"namespace", write.name_space}};
  if (!write.pod_uid.empty()) metadata["uid"] = write.pod_uid.text();
  JsonObject annotations;
  for (const auto& [key, value] : write.annotations) annotations[key] = value;
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return JsonObject{{"kind", "Binding"},
                    {"apiVersion", "v1"},
                    {"metadata", std::move(metadata)},
                    {"target", JsonObject{{"kind", "Node"}, {"name", write.node.text()}}}};
}

Json delete_options(const client::DeleteWrite& write) {
  JsonObject out;
  if (write.grace_seconds) out["gracePeriodSeconds"] = *write.grace_seconds;
  JsonObject preconditions;
  if (write.only_uid) preconditions["uid"] = write.only_uid->text();
  if (write.only_if) preconditions["resourceVersion"] = write.only_if->text();
  if (!preconditions.empty()) out["preconditions"] = std::move(preconditions);
  switch (write.propagation) {
    case client::Propagation::Default:
      break;
    case client::Propagation::Background:
      out["propagationPolicy"] = "Background";
      break;
    case client::Propagation::Foreground:
      out["propagationPolicy"] = "Foreground";
      break;
    case client::Propagation::Orphan:
      out["propagationPolicy"] = "Orphan";
      break;
  }
  return out;
}

// A create of pods/eviction, though it comes as a delete.
Result<void> review_eviction(const client::DeleteWrite& write, Change& change,
                             const PrepareInput& in) {
  HookSubject subject =
      subject_of(Operation::Create, kinds::kPod, write.name_space, write.name, "eviction");
  subject.shown = kEvictionKind;
  JsonObject eviction{
      {"kind", "Eviction"},
      {"apiVersion", "policy/v1"},
      {"metadata", JsonObject{{"name", write.name}, {"namespace", write.name_space}}}};
  Json options = delete_options(write);
  if (!options.get_object().empty()) eviction["deleteOptions"] = std::move(options);
  Json object = std::move(eviction);
  HookedObject hooked{[&] { return object; },
                      [&](Json patched) -> Result<void> {
                        object = std::move(patched);
                        return {};
                      },
                      []() -> Result<void> { return {}; }};
  TRY(ask_mutating_hooks(subject, &hooked, nullptr, in, change.warnings));
  return ask_validating_hooks(subject, &object, nullptr, in, change.warnings);
}

Result<void> review_delete(const client::DeleteWrite& write, Change& change,
                           const PrepareInput& in) {
  if (in.info.evicts) return review_eviction(write, change, in);
  if (change.what == Change::What::Nothing) return {};
  HookSubject subject =
      subject_of(Operation::Delete, change.kind, change.place.name_space, change.place.name);
  subject.options = delete_options(write);
  TRY_ASSIGN(const bool mutating, any_hook(HookKind::Mutating, subject, in));
  TRY_ASSIGN(const bool validating, any_hook(HookKind::Validating, subject, in));
  if (!mutating && !validating) return {};
  const auto old = change.before->document();
  TRY(ask_mutating_hooks(subject, nullptr, old.get(), in, change.warnings));
  return ask_validating_hooks(subject, nullptr, old.get(), in, change.warnings);
}

// As the version that was asked for; nothing for what is not there.
Result<Json> reviewed(const Change& change, const ObjectPtr& object, const std::string& subresource,
                      const PrepareInput& in) {
  if (object == nullptr) return Json();
  TRY_ASSIGN(const KindSchemaPtr schema, schema_of(in.env.schemas, change.kind));
  Json out = *object->document();
  if (as_custom(*schema) != nullptr) set_path(out, {"apiVersion"}, Json(change.kind.api_version()));
  if (subresource == kScale) return shown_scale(*schema, &out);
  return out;
}

Result<void> review_write(const std::string& subresource, Change& change, const PrepareInput& in) {
  const HookSubject subject =
      subject_of(change.before ? Operation::Update : Operation::Create, change.kind,
                 change.place.name_space, change.place.name, subresource);
  TRY_ASSIGN(const bool any, any_hook(HookKind::Validating, subject, in));
  if (!any) return {};
  TRY_ASSIGN(const Json object, reviewed(change, outcome_of(change), subresource, in));
  TRY_ASSIGN(const Json old, reviewed(change, change.before, subresource, in));
  return ask_validating_hooks(subject, &object, change.before ? &old : nullptr, in,
                              change.warnings);
}

}  // namespace

Result<void> hooks_on_create(const KindSchema& schema, Admission& admission, const Change& change,
                             bool keep_status, const PrepareInput& in) {
  const std::string name = change.generated_name ? "" : admission.name;
  const HookSubject subject =
      subject_of(Operation::Create, change.kind, admission.name_space, name);
  const auto show = [&] {
    Json out = admission.object;
    for (const std::string_view field : kGivenLater) erase_path(out, {"metadata", field});
    if (change.generated_name) erase_path(out, {"metadata", "name"});
    return out;
  };
  const auto take = [&](Json patched) -> Result<void> {
    TRY(read_patched(schema, admission.name_space, patched));
    for (const std::string_view field : kGivenLater) {
      erase_path(patched, {"metadata", field});
      if (const Json* value = find(admission.object, {"metadata", field}))
        set_path(patched, {"metadata", field}, *value);
    }
    set_path(patched, {"metadata", "name"}, Json(admission.name));
    for (const std::string_view field : {"resourceVersion", "managedFields", "selfLink",
                                         "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      erase_path(patched, {"metadata", field});
    }
    if (schema.subresources().status && !keep_status) patched.get_object().erase("status");
    settle_patched(schema, patched, nullptr);
    admission.object = std::move(patched);
    return {};
  };
  HookedObject hooked{show, take, [&] { return built_in_again(admission); }};
  return ask_mutating_hooks(subject, &hooked, nullptr, in, admission.warnings);
}

Result<void> hooks_on_update(const KindSchema& schema, Admission& admission,
                             const NarrowBody& narrow, const PrepareInput& in) {
  const HookSubject subject = subject_of(Operation::Update, admission.kind, admission.name_space,
                                         admission.name, admission.subresource);
  const bool scales = admission.subresource == kScale;
  TRY_ASSIGN(const bool any, any_hook(HookKind::Mutating, subject, in));
  if (!any) return {};
  Json old = *admission.old;
  if (scales) {
    TRY_ASSIGN(old, shown_scale(schema, admission.old));
  }
  const auto show = [&] {
    if (!scales) return admission.object;
    const Result<Json> scale = shown_scale(schema, &admission.object);
    return scale ? *scale : Json();
  };
  const auto take = [&](Json patched) -> Result<void> {
    if (scales) {
      if (const auto replicas = int_at(patched, {"spec", "replicas"}))
        set_replicas(schema, admission.object, *replicas);
      return {};
    }
    TRY(read_patched(schema, admission.name_space, patched));
    erase_path(patched, {"metadata", "managedFields"});
    Json kept = narrow(std::move(patched));
    settle_patched(schema, kept, admission.old);
    admission.object = std::move(kept);
    return {};
  };
  HookedObject hooked{show, take, [&] { return built_in_again(admission); }};
  return ask_mutating_hooks(subject, &hooked, &old, in, admission.warnings);
}

Result<client::BindWrite> hooks_on_bind(const client::BindWrite& write, const PrepareInput& in,
                                        std::vector<std::string>& warnings) {
  HookSubject subject =
      subject_of(Operation::Create, kinds::kPod, write.name_space, write.pod, "binding");
  subject.shown = kBindingKind;
  TRY_ASSIGN(const bool mutating, any_hook(HookKind::Mutating, subject, in));
  TRY_ASSIGN(const bool validating, any_hook(HookKind::Validating, subject, in));
  client::BindWrite out = write;
  if (!mutating && !validating) return out;
  Json binding = binding_json(write);
  HookedObject hooked{[&] { return binding; },
                      [&](Json patched) -> Result<void> {
                        binding = std::move(patched);
                        return {};
                      },
                      []() -> Result<void> { return {}; }};
  TRY(ask_mutating_hooks(subject, &hooked, nullptr, in, warnings));
  TRY(ask_validating_hooks(subject, &binding, nullptr, in, warnings));
  out.node = NodeName(text_at(binding, {"target", "name"}));
  out.annotations = string_map(find(binding, {"metadata", "annotations"}));
  return out;
}

Result<void> review_by_hooks(const client::Write& write, Change& change, const PrepareInput& in) {
  if (in.hooks == nullptr || in.info.unhooked) return {};
  struct Dispatch {
    Change& change;
    const PrepareInput& in;
    Result<void> written(const std::string& subresource) const {
      return review_write(subresource, change, in);
    }
    Result<void> operator()(const client::CreateWrite& w) const { return written(w.subresource); }
    Result<void> operator()(const client::UpdateWrite& w) const { return written(w.subresource); }
    Result<void> operator()(const client::PatchWrite& w) const { return written(w.subresource); }
    Result<void> operator()(const client::DeleteWrite& w) const {
      return review_delete(w, change, in);
    }
    Result<void> operator()(const client::BindWrite&) const { return {}; }  // hooks_on_bind()
  };
  return std::visit(Dispatch{change, in}, write);
}

}  // namespace krater::api
