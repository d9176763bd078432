// How many pods each ReplicaSet of a Deployment shall have next. Each function takes one step of
// Kubernetes' deployment controller and says whether it changed anything. Pure.
#pragma once

#include <span>

#include "controllers/apps/deployment_sets.h"

namespace krater::controllers {

// Pods a new set starts with: as many as fit beside the others.
std::int64_t first_replicas(const DeploymentView& deployment, std::span<const SetPlan> others);

// Rolling update: the set of the present template grows by what fits under replicas + maxSurge …
bool grow_newest(const DeploymentView& deployment, std::span<SetPlan> sets, SetPlan& newest);
// … and the others shrink by what availability allows; unhealthy pods go first.
bool shrink_others(const DeploymentView& deployment, std::span<SetPlan> sets,
                   const SetPlan& newest);

// The deployment was resized since its sets were scaled last.
bool resized(const DeploymentView& deployment, std::span<const SetPlan> sets);
// Spreads a new size over the sets in proportion to what they have. `newest` may be null.
bool spread(const DeploymentView& deployment, std::span<SetPlan> sets, const SetPlan* newest);

}  // namespace krater::controllers
