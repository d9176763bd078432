// Guards and steps that several phases share.
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

// Nothing tells us of a cluster that is not ours.
constexpr Duration kForeignClusterPoll = 3s;

bool past(std::optional<std::int64_t> limit_s, std::optional<WallTime> start, WallTime now,
          JobStep& step) {
  if (!limit_s || !start) return false;
  const Duration left = *start + std::chrono::seconds(*limit_s) - now;
  if (left > 0s) step.look_within(left);
  return left <= 0s;
}

}  // namespace

bool past_active_deadline(const JobSeen& seen, WallTime now, JobStep& step) {
  const auto limit = seen.job.active_deadline_s();
  if (!past(limit, seen.status.start, now, step)) return false;
  step.fail(job_reason::kDeadlineExceeded, "The RayJob has passed its activeDeadlineSeconds of " +
                                               std::to_string(*limit) + ", counted from " +
                                               to_rfc3339(*seen.status.start));
  return true;
}

bool past_pre_running_deadline(const JobSeen& seen, WallTime now, JobStep& step) {
  const auto limit = seen.job.pre_running_deadline_s();
  if (!past(limit, seen.status.start, now, step)) return false;
  step.fail(job_reason::kPreRunningDeadlineExceeded,
            "The RayJob was not running within its preRunningDeadlineSeconds of " +
                std::to_string(*limit) + ", counted from " + to_rfc3339(*seen.status.start));
  return true;
}

bool ensure_cluster(const JobSeen& seen, const JobRules& rules, JobStep& step) {
  if (seen.job.has_selector()) step.look_within(kForeignClusterPoll);
  if (seen.cluster) {
    const RayClusterStatus now = seen.cluster.status();
    if (!now.same_news(RayClusterStatus::from(step.next.cluster_status)))
      step.next.cluster_status = seen.cluster.status_json();
    return true;
  }
  if (seen.job.has_selector()) {
    step.events.push_back(job_event(EventNote::Type::Warning, "RayClusterNotFound",
                                    "RayCluster " + seen.job->name_space() + "/" +
                                        seen.status.cluster_name +
                                        ", which clusterSelector names, was not found",
                                    "Validate"));
    step.retry = "the selected RayCluster does not exist";
  } else {
    step.want(create_cluster(seen, rules));
  }
  return false;
}

}  // namespace krater::controllers
