// Cluster roles that collect: a ClusterRole with an aggregationRule holds the rules of all cluster
// roles its selectors choose, by name, each rule once. Mirrors Kubernetes'
// clusterrole-aggregation-controller.
#pragma once

#include <memory>
#include <vector>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_role_aggregation_controller();

// The rules `role` should hold, `others` being all cluster roles. Pure. A selector that cannot be
// read chooses nothing.
JsonArray collected_rules(const Object& role, const std::vector<ObjectPtr>& others);

}  // namespace krater::controllers
