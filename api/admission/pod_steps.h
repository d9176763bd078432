// The steps a new pod goes through, in order. Each fills in one aspect of the spec.
#pragma once

#include "api/admission/admission.h"

namespace krater::api {

// Service account, its pull secrets, and the volume with its token (kube-api-access-…).
Result<void> give_service_account(Admission& admission);
// spec.priority and spec.preemptionPolicy from the priority class.
Result<void> give_priority(Admission& admission);
// Overhead, node selector and tolerations from the runtime class.
Result<void> give_runtime_class(Admission& admission);
// Requests and limits of the namespace's limit ranges where a container names none; a refusal when
// it asks for too little or too much.
Result<void> keep_in_limits(Admission& admission);
// Five minutes of patience with nodes that are not ready or not reachable.
void give_tolerations(Admission& admission);
// Nodes, tolerations and scheduler of the resource group it belongs to.
Result<void> enter_resource_group(Admission& admission);
// The scheduling gate of a pod that asks to wait for room in its queue.
void give_queue_gate(Admission& admission);

}  // namespace krater::api
