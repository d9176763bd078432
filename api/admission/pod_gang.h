// A pod of a workload that is to start as a gang knows its PodGroup from the start, so that none of
// it is placed before the group is there. Only for our own PodGroup controller: Volcano's makes no
// group for a pod that names one.
#pragma once

#include "api/admission/admission.h"

namespace krater::api {

Result<void> join_gang(Admission& admission);

}  // namespace krater::api
