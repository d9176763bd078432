#include "model/disruption_budget.h"

namespace krater {

std::optional<LabelSelector> DisruptionBudgetView::selector() const {
  const Json* written = find(document(), {"spec", "selector"});
  if (written == nullptr) return std::nullopt;
  Result<LabelSelector> read = LabelSelector::from_object(*written);
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

bool DisruptionBudgetView::covers(const Labels& labels) const {
  const std::optional<LabelSelector> counts = selector();
  return counts && counts->matches(labels);
}

std::map<std::string, WallTime> DisruptionBudgetView::disrupted() const {
  std::map<std::string, WallTime> out;
  for (const auto& [pod, time] : string_map(find(document(), {"status", "disruptedPods"}))) {
    if (const auto at = parse_rfc3339(time)) out[pod] = *at;
  }
  return out;
}

Json disruption_condition(std::int64_t allowed, std::int64_t generation, WallTime changed) {
  return JsonObject{{"type", "DisruptionAllowed"},
                    {"status", allowed > 0 ? "True" : "False"},
                    {"observedGeneration", generation},
                    {"lastTransitionTime", to_rfc3339(changed)},
                    {"reason", allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                    {"message", ""}};
}

}  // namespace krater
