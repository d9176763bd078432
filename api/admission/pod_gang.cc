#include "api/admission/pod_gang.h"

#include "model/keys.h"

namespace krater::api {
namespace {

constexpr std::string_view kGroupMinMember = "scheduling.volcano.sh/group-min-member";

const Json* controller_of(const Json& pod) {
  const JsonArray* owners = array_at(pod, {"metadata", "ownerReferences"});
  if (owners == nullptr) return nullptr;
  for (const Json& owner : *owners) {
    if (bool_at(owner, {"controller"}).value_or(false)) return &owner;
  }
  return nullptr;
}

}  // namespace

Result<void> join_gang(Admission& admission) {
  if (!admission.settings.joins_gangs) return {};
  Json& pod = admission.object;
  if (!admission.settings.is_volcano(text_at(pod, {"spec", "schedulerName"}))) return {};
  if (!text_at(pod, {"metadata", "annotations", keys::kGroupName}).empty()) return {};
  const Json* owner = controller_of(pod);
  if (owner == nullptr) return {};
  const Kind* kind = find_kind(text_at(*owner, {"apiVersion"}), text_at(*owner, {"kind"}));
  if (kind == nullptr) return {};
  TRY_ASSIGN(const ObjectPtr workload,
             admission.reader.get(*kind, admission.name_space, text_at(*owner, {"name"})));
  if (!workload || workload->uid() != Uid(text_at(*owner, {"uid"}))) return {};
  if (ObjectView(workload).annotation(kGroupMinMember).empty()) return {};
  set_path(pod, {"metadata", "annotations", keys::kGroupName},
           Json("podgroup-" + workload->uid().text()));
  return {};
}

}  // namespace krater::api
