// policy/v1 PodDisruptionBudgets: keeps their status, which evictions ask and take from.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_disruption_controller();

}  // namespace krater::controllers
