// The kinds of apps/v1 and what goes with them, beside those of model/kinds.h.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

extern const Kind kDeployment, kReplicaSet, kStatefulSet, kDaemonSet, kControllerRevision;
extern const Kind kReplicationController;  // v1
extern const Kind kCronJob, kPodDisruptionBudget, kResourceQuota, kLimitRange;

}  // namespace krater::kinds
