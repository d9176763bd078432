// What may change in a pod after it was created.
#pragma once

#include "api/machinery/field_errors.h"

namespace krater::api::rules {

// Images of containers, activeDeadlineSeconds (set or shortened), tolerations (added),
// terminationGracePeriodSeconds (to 1 when negative); while scheduling gates hold it also gates
// (removed), nodeSelector and required node affinity (narrowed). nodeName is set by binding alone,
// which comes as an update from "" to a name.
void check_pod_update(const Json& pod, const Json& old, FieldErrors& errors);

}  // namespace krater::api::rules
