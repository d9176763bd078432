// apps/v1 ReplicaSets: as many equal pods as asked for.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_replica_set_controller();

}  // namespace krater::controllers
