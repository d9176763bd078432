// Pods that say so wait behind a scheduling gate of Volcano's until their queue has room for them
// (annotation scheduling.volcano.sh/queue-allocation-gate); the scheduler takes the gate away.
#include "api/admission/pod_steps.h"
#include "model/queue_gate.h"

namespace krater::api {

void give_queue_gate(Admission& admission) {
  Json& pod = admission.object;
  if (text_at(pod, {"metadata", "annotations", keys::kQueueAllocationGate}) != "true") return;
  JsonArray gates;
  if (const JsonArray* given = array_at(pod, {"spec", "schedulingGates"})) gates = *given;
  for (const Json& one : gates) {
    if (text_at(one, {"name"}) == keys::kQueueAllocationGate) return;
  }
  gates.push_back(JsonObject{{"name", keys::kQueueAllocationGate}});
  set_path(pod, {"spec", "schedulingGates"}, std::move(gates));
}

}  // namespace krater::api
