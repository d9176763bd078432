// Reading a policy/v1 PodDisruptionBudget.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/condition.h"
#include "model/object.h"
#include "model/selector.h"
#include "model/workload_kinds.h"

namespace krater {

class DisruptionBudgetView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  // Who counts. Absent, or not to be read: nobody; an empty one takes all.
  std::optional<LabelSelector> selector() const;
  // Whether a pod with these labels counts.
  bool covers(const Labels& labels) const;
  // Null: not given. One of the two is.
  const Json* min_available() const { return find(document(), {"spec", "minAvailable"}); }
  const Json* max_unavailable() const { return find(document(), {"spec", "maxUnavailable"}); }
  // Pods that are not ready may go whatever the budget says.
  bool always_allows_unhealthy() const {
    return text({"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow";
  }

  std::int64_t observed_generation() const {
    return integer({"status", "observedGeneration"}).value_or(0);
  }
  std::int64_t disruptions_allowed() const {
    return integer({"status", "disruptionsAllowed"}).value_or(0);
  }
  std::int64_t current_healthy() const { return integer({"status", "currentHealthy"}).value_or(0); }
  std::int64_t desired_healthy() const { return integer({"status", "desiredHealthy"}).value_or(0); }
  // Evictions that were granted and when, by pod.
  std::map<std::string, WallTime> disrupted() const;
  std::optional<Condition> condition(std::string_view type) const {
    return condition_of(document(), type);
  }
};

// The condition DisruptionAllowed as the controller and the eviction both write it.
Json disruption_condition(std::int64_t allowed, std::int64_t generation, WallTime changed);

}  // namespace krater
