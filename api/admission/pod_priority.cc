
#include "api/admission/pod_steps.h"

namespace krater::api {
namespace {

// The class a pod without one gets: the global default with the lowest value, if there is any.
Result<ObjectPtr> default_class(const ObjectReader& reader) {
  TRY_ASSIGN(const std::vector<ObjectPtr> classes, reader.list(kinds::kPriorityClass, ""));
  ObjectPtr best;
  for (const ObjectPtr& candidate : classes) {
    if (!bool_at(*candidate->document(), {"globalDefault"}).value_or(false)) continue;
    if (!best || int_at(*candidate->document(), {"value"}) < int_at(*best->document(), {"value"}))
      best = candidate;
  }
  return best;
}

bool tolerates(const JsonArray& tolerations, std::string_view key) {
  for (const Json& toleration : tolerations) {
    const std::string its_key = text_at(toleration, {"key"});
    const std::string effect = text_at(toleration, {"effect"});
    if ((its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty()))
      return true;
  }
  return false;
}

}  // namespace

Result<void> give_priority(Admission& admission) {
  Json& pod = admission.object;
  const std::string name = text_at(pod, {"spec", "priorityClassName"});
  ObjectPtr chosen;
  if (name.empty()) {
    TRY_ASSIGN(chosen, default_class(admission.reader));
    if (chosen) set_path(pod, {"spec", "priorityClassName"}, Json(chosen->name()));
  } else {
    TRY_ASSIGN(chosen, admission.reader.get(kinds::kPriorityClass, "", name));
    if (!chosen) return refusal("no PriorityClass with name " + name + " was found");
  }
  const ObjectView priority_class(chosen);
  const std::int64_t priority = int_at(priority_class.document(), {"value"}).value_or(0);
  const auto given = int_at(pod, {"spec", "priority"});
  if (given && *given != priority) {
    return refusal("the integer value of priority (" + std::to_string(*given) +
                   ") must not be provided in pod spec; priority admission controller computed " +
                   std::to_string(priority) + " from the given PriorityClass name");
  }
  std::string policy = text_at(priority_class.document(), {"preemptionPolicy"});
  if (policy.empty()) policy = "PreemptLowerPriority";
  const std::string asked = text_at(pod, {"spec", "preemptionPolicy"});
  if (!asked.empty() && chosen && asked != policy) {
    return refusal("the string value of PreemptionPolicy (" + asked +
                   ") must not be provided in pod spec; priority admission controller computed " +
                   policy + " from the given PriorityClass name");
  }
  set_path(pod, {"spec", "priority"}, priority);
  set_path(pod, {"spec", "preemptionPolicy"}, Json(asked.empty() ? policy : asked));
  return {};
}

void give_tolerations(Admission& admission) {
  JsonArray tolerations;
  if (const JsonArray* given = array_at(admission.object, {"spec", "tolerations"}))
    tolerations = *given;
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates(tolerations, key)) continue;
    tolerations.push_back(JsonObject{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
  set_path(admission.object, {"spec", "tolerations"}, std::move(tolerations));
}

}  // namespace krater::api
