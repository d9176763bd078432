#include "controllers/apps/rollout.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace krater::controllers {
namespace {

std::int64_t total(std::span<const SetPlan> sets) {
  std::int64_t out = 0;
  for (const SetPlan& plan : sets) out += plan.replicas;
  return out;
}

std::int64_t available(std::span<const SetPlan> sets) {
  std::int64_t out = 0;
  for (const SetPlan& plan : sets) out += plan.set.available();
  return out;
}

std::int64_t room(const DeploymentView& deployment, std::span<const SetPlan> sets) {
  return deployment.replicas() + deployment.max_surge() - total(sets);
}

std::int64_t annotated(const SetPlan& plan, std::string_view key, std::int64_t fallback) {
  const auto place = plan.annotations.find(key);
  return place == plan.annotations.end() ? fallback : parse_int(place->second).value_or(fallback);
}

// Half away from zero.
std::int64_t rounded_ratio(std::int64_t numerator, std::int64_t denominator) {
  return (2 * numerator + denominator) / (2 * denominator);
}

// The part of a change of `change` pods that falls to one set, when `given` are spread already.
std::int64_t share(const DeploymentView& deployment, const SetPlan& plan, std::int64_t change,
                   std::int64_t given) {
  if (plan.replicas == 0 || change == given) return 0;
  if (deployment.replicas() == 0) return std::max(-plan.replicas, change - given);
  const std::int64_t most = deployment.replicas() + deployment.max_surge();
  std::int64_t before = annotated(plan, keys::kMaxReplicas, 0);
  if (before <= 0) before = std::max<std::int64_t>(1, deployment.replicas());
  const std::int64_t part = rounded_ratio(plan.replicas * most, before) - plan.replicas;
  const std::int64_t left = change - given;
  return change > 0 ? std::min(part, left) : std::max(part, left);
}

bool saturated(const DeploymentView& deployment, const SetPlan& newest) {
  return newest.replicas == deployment.replicas() &&
         annotated(newest, keys::kDesiredReplicas, -1) == deployment.replicas() &&
         newest.set.available() == deployment.replicas();
}

// The only set with pods; without any, the one to give them to. Null: there are several.
SetPlan* only_active(std::span<SetPlan> sets, const SetPlan* newest) {
  SetPlan* out = nullptr;
  for (SetPlan& plan : sets) {
    if (plan.replicas == 0) continue;
    if (out != nullptr) return nullptr;
    out = &plan;
  }
  if (out != nullptr || sets.empty()) return out;
  for (SetPlan& plan : sets) {
    if (&plan == newest) return &plan;
  }
  return &sets.back();
}

bool spread_over_all(const DeploymentView& deployment, std::span<SetPlan> sets) {
  const std::int64_t allowed =
      deployment.replicas() > 0 ? deployment.replicas() + deployment.max_surge() : 0;
  const std::int64_t change = allowed - total(sets);
  std::vector<SetPlan*> order;
  for (SetPlan& plan : sets) {
    if (plan.replicas > 0) order.push_back(&plan);
  }
  // The larger first; of equal ones the newer when pods are added, the older when they go.
  if (change > 0) std::ranges::reverse(order);
  std::ranges::stable_sort(
      order, [](const SetPlan* a, const SetPlan* b) { return a->replicas > b->replicas; });
  std::vector<std::int64_t> sizes;
  std::int64_t given = 0;
  for (const SetPlan* plan : order) {
    const std::int64_t part = change == 0 ? 0 : share(deployment, *plan, change, given);
    sizes.push_back(plan->replicas + part);
    given += part;
  }
  if (!sizes.empty()) sizes[0] = std::max<std::int64_t>(0, sizes[0] + change - given);
  for (std::size_t i = 0; i < order.size(); ++i) scale_set(deployment, *order[i], sizes[i]);
  return std::ranges::any_of(order, [](const SetPlan* plan) { return plan->changed(); });
}

}  // namespace

std::int64_t first_replicas(const DeploymentView& deployment, std::span<const SetPlan> others) {
  if (deployment.recreates()) return deployment.replicas();
  return std::clamp<std::int64_t>(room(deployment, others), 0, deployment.replicas());
}

bool grow_newest(const DeploymentView& deployment, std::span<SetPlan> sets, SetPlan& newest) {
  const std::int64_t wanted = deployment.replicas();
  if (newest.replicas == wanted) return false;
  if (newest.replicas > wanted) {
    scale_set(deployment, newest, wanted);
    return true;
  }
  const std::int64_t more = std::min(room(deployment, sets), wanted - newest.replicas);
  if (more <= 0) return false;
  scale_set(deployment, newest, newest.replicas + more);
  return true;
}

bool shrink_others(const DeploymentView& deployment, std::span<SetPlan> sets,
                   const SetPlan& newest) {
  const std::int64_t least_available = deployment.replicas() - deployment.max_unavailable();
  const std::int64_t newest_missing = newest.replicas - newest.set.available();
  std::int64_t may_go = total(sets) - least_available - newest_missing;
  if (may_go <= 0) return false;
  bool changed = false;
  for (SetPlan& plan : sets) {
    const std::int64_t unhealthy = std::min(may_go, plan.replicas - plan.set.available());
    if (&plan == &newest || unhealthy <= 0) continue;
    scale_set(deployment, plan, plan.replicas - unhealthy);
    may_go -= unhealthy;
    changed = true;
  }
  std::int64_t healthy = available(sets) - least_available;
  for (SetPlan& plan : sets) {
    const std::int64_t fewer = std::min(healthy, plan.replicas);
    if (&plan == &newest || fewer <= 0) continue;
    scale_set(deployment, plan, plan.replicas - fewer);
    healthy -= fewer;
    changed = true;
  }
  return changed;
}

bool resized(const DeploymentView& deployment, std::span<const SetPlan> sets) {
  return std::ranges::any_of(sets, [&](const SetPlan& plan) {
    return plan.replicas > 0 &&
           annotated(plan, keys::kDesiredReplicas, deployment.replicas()) != deployment.replicas();
  });
}

bool spread(const DeploymentView& deployment, std::span<SetPlan> sets, const SetPlan* newest) {
  if (SetPlan* only = only_active(sets, newest)) {
    if (only->replicas == deployment.replicas() && !resized(deployment, sets)) return false;
    scale_set(deployment, *only, deployment.replicas());
    return only->changed();
  }
  if (newest != nullptr && saturated(deployment, *newest)) {
    bool changed = false;
    for (SetPlan& plan : sets) {
      if (&plan == newest || plan.replicas == 0) continue;
      scale_set(deployment, plan, 0);
      changed = true;
    }
    return changed;
  }
  if (deployment.recreates()) return false;
  return spread_over_all(deployment, sets);
}

}  // namespace krater::controllers
