// One pass over a Deployment: what is seen, and what shall be done. Pure.
//
// Kubernetes' order: follow the size first (in proportion), then the template, one step a pass; the
// status of each pass is that of what was seen. A set that is scaled wakes the deployment again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controllers/apps/deployment_sets.h"
#include "controllers/loop/plan.h"

namespace krater::controllers {

struct DeploymentSeen {
  DeploymentView deployment;
  std::vector<SetPlan> sets;                            // those it controls
  std::function<bool(const std::string&)> name_taken;   // of ReplicaSets in its namespace
  std::function<bool(const ReplicaSetView&)> has_pods;  // that have not ended, deleted or not
  std::string create_error{};                           // why the last pass made no set
};

Plan deployment_step(DeploymentSeen seen, WallTime now);

}  // namespace krater::controllers
