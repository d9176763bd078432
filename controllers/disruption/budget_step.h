// One pass over a PodDisruptionBudget: how many of its pods may be evicted now. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/disruption_budget.h"
#include "model/pod.h"

namespace krater::controllers {

// Who keeps a pod's number up, and at how many.
struct PodScale {
  Uid controller;
  std::int64_t replicas = 0;
};

struct BudgetSeen {
  DisruptionBudgetView budget;
  std::vector<PodView> pods;  // those it covers
  // Code::NotFound with a reason for a pod whose number nobody knows; nothing for a pod that nobody
  // controls.
  std::function<Result<std::optional<PodScale>>(const PodView&)> scale_of;
};

Plan budget_step(const BudgetSeen& seen, WallTime now);

}  // namespace krater::controllers
