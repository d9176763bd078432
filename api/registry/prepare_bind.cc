// pods/binding: the scheduler's decision becomes the pod's node. Only these fields change, so there
// is nothing to validate again: a gang of a thousand pods binds in one short transaction.
#include "api/registry/hook_door.h"
#include "api/registry/prepare.h"
#include "api/registry/status.h"

namespace krater::api {
namespace {

Result<void> check_bindable(const client::BindWrite& write, const Object& pod,
                            const Json& document) {
  const auto refuse = [&](std::string_view why) { return conflict(kinds::kPod, write.pod, why); };
  if (!write.pod_uid.empty() && write.pod_uid != pod.uid()) {
    return refuse("Precondition failed: UID in precondition: " + write.pod_uid.text() +
                  ", UID in object meta: " + pod.uid().text());
  }
  if (pod.deletion())
    return refuse("pod " + write.pod + " is being deleted, cannot be assigned to a host");
  const std::string node = text_at(document, {"spec", "nodeName"});
  if (!node.empty())
    return refuse("pod " + write.pod + " is already assigned to node \"" + node + "\"");
  const JsonArray* gates = array_at(document, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty())
    return refuse("pod " + write.pod + " has non-empty .spec.schedulingGates");
  return {};
}

void set_scheduled(Json& pod, WallTime now) {
  JsonArray conditions;
  if (const JsonArray* before = array_at(pod, {"status", "conditions"})) conditions = *before;
  const auto is_scheduled = [](const Json& condition) {
    return text_at(condition, {"type"}) == "PodScheduled";
  };
  JsonObject scheduled;
  scheduled["type"] = "PodScheduled";
  scheduled["status"] = "True";
  scheduled["lastTransitionTime"] = to_rfc3339(now);
  for (Json& condition : conditions) {
    if (!is_scheduled(condition)) continue;
    condition = std::move(scheduled);
    set_path(pod, {"status", "conditions"}, std::move(conditions));
    return;
  }
  conditions.push_back(std::move(scheduled));
  set_path(pod, {"status", "conditions"}, std::move(conditions));
}

}  // namespace

Result<Change> prepare_bind(const client::BindWrite& asked, const PrepareInput& in) {
  Change change;
  TRY_ASSIGN(const client::BindWrite write, hooks_on_bind(asked, in, change.warnings));
  if (write.node.empty())
    return invalid(Kind{"", "v1", "Binding", "bindings", true}, write.pod,
                   {required_value("target.name")});
  change.kind = kinds::kPod;
  change.place = ObjectKey::of(kinds::kPod, write.name_space, write.pod);
  change.repeatable = true;
  TRY_ASSIGN(const ObjectPtr current, existing(in.view, kinds::kPod, write.name_space, write.pod));
  Json pod = *current->document();
  TRY(check_bindable(write, *current, pod));
  set_path(pod, {"spec", "nodeName"}, Json(write.node.text()));
  set_scheduled(pod, in.now);
  for (const auto& [key, value] : write.annotations)
    set_path(pod, {"metadata", "annotations", key}, Json(value));
  if (const auto generation = int_at(pod, {"metadata", "generation"}))
    set_path(pod, {"metadata", "generation"}, *generation + 1);
  TRY(conclude(change, Change::What::Put, pod, current));
  return change;
}

}  // namespace krater::api
