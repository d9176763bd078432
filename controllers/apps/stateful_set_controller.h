// apps/v1 StatefulSets: numbered pods that keep their names.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_stateful_set_controller();

}  // namespace krater::controllers
