// apps/v1 Deployments: a ReplicaSet for each version of the template, and the way from one to the
// next.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_deployment_controller();

}  // namespace krater::controllers
