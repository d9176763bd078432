// apps/v1 DaemonSets: a pod on every node that fits.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_daemon_set_controller();

}  // namespace krater::controllers
