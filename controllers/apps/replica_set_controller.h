// apps/v1 ReplicaSets, and v1 ReplicationControllers: as many equal pods as asked for.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_replica_set_controller();
std::unique_ptr<Reconciler> make_replication_controller();

}  // namespace krater::controllers
