#include "controllers/vcjob/why_pending.h"

#include "controllers/vcjob/volumes.h"

namespace krater::controllers::vcjob {
namespace {

constexpr std::string_view kReason = "PodGroupPending";  // as the event has it
constexpr Duration kPasses = 2s;                         // what does so soon is not written down

std::string why_pending(const std::string& group_news, const Observed& seen) {
  if (!seen.queue_exists) return "queue " + seen.job.queue().text() + " does not exist";
  if (const std::string claim = missing_claim(seen); !claim.empty())
    return "pvc " + claim + " is not found";
  return group_news;
}

}  // namespace

std::optional<Duration> note_why_pending(const std::string& group_news, Observed& seen,
                                         WallTime now) {
  Status& status = seen.status;
  if (status.phase != VolcanoJobPhase::Pending) return std::nullopt;
  std::string why = why_pending(group_news, seen);
  const Duration left = status.transition.value_or(now) + kPasses - now;
  if (!why.empty() && left > Duration(0)) return left;
  status.reason = why.empty() ? "" : kReason;
  status.message = std::move(why);
  return std::nullopt;
}

}  // namespace krater::controllers::vcjob
