#include "model/job.h"

#include <limits>

namespace krater {

std::int64_t JobView::backoff_limit() const {
  const std::int64_t absent =
      backoff_limit_per_index() ? std::numeric_limits<std::int32_t>::max() : 6;
  return integer({"spec", "backoffLimit"}).value_or(absent);
}

bool JobView::replaces_only_failed() const {
  const std::string policy = text({"spec", "podReplacementPolicy"});
  return policy.empty() ? failure_rules() != nullptr : policy == "Failed";
}

bool JobView::managed_here() const {
  const auto manager = string({"spec", "managedBy"});
  return !manager || *manager == keys::kJobController;
}

bool JobView::has(std::string_view condition) const {
  const auto found = condition_of(document(), condition);
  return found && found->is_true();
}

std::optional<WallTime> JobView::finished_at() const {
  for (const std::string_view type : {"Complete", "Failed"}) {
    const auto found = condition_of(document(), type);
    if (found && found->is_true()) return found->last_transition;
  }
  return std::nullopt;
}

}  // namespace krater
