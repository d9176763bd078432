// policy/v1 PodDisruptionBudgets: keeps their status, which evictions ask and take from.
#pragma once

#include <memory>
#include <vector>

#include "controllers/loop/plan.h"

namespace krater::controllers {

// `scaled`: kinds whose objects have a scale, beside those of apps/v1: they count for the pods they
// control.
std::unique_ptr<Reconciler> make_disruption_controller(std::vector<Kind> scaled = {});

}  // namespace krater::controllers
