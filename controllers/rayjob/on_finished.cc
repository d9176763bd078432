// Complete and Failed: clean up when it is due, and give the gang's share back. The phase stays.
#include "controllers/ray/gang_size.h"
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/cleanup.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// The gang shrinks to what still lives. A plan that fails here is retried until it succeeded.
std::optional<PlannedWrite> release_gang(const JobSeen& seen, const JobRules& rules,
                                         bool cluster_goes) {
  if (seen.job.has_selector() || seen.status.cluster_name.empty()) return std::nullopt;
  const bool gone = cluster_goes || !seen.cluster || seen.cluster.deleting();
  auto write = rules.scheduler.resize(
      gone ? GangSize{} : gang_size(context_of(seen.cluster, rules.cluster), seen.runtime_class),
      seen.pod_group);
  if (!write) return std::nullopt;
  const std::string gang = rules.scheduler.gang_name(*seen.job.object());
  write->on_done = job_event(Type::Normal, "BatchSchedulerCleanedUp",
                             "Shrank " + gang + " to what still runs", "Cleanup");
  write->on_failed = job_event(Type::Warning, "FailedToCleanupBatchScheduler",
                               "Failed to shrink " + gang, "Cleanup");
  return write;
}

}  // namespace

JobStep on_finished(const JobSeen& seen, const JobRules& rules, WallTime now) {
  JobStep step{seen.status};
  const CleanupDue due = cleanup_due(seen, rules, now);
  bool cluster_goes = false;
  if (due.now) {
    switch (*due.now) {
      case DeletionPolicy::None:
        break;
      case DeletionPolicy::Workers:
        if (auto write = delete_workers(seen)) step.want(std::move(*write));
        break;
      case DeletionPolicy::Cluster:
        step.want(delete_cluster(seen));
        cluster_goes = true;
        break;
      case DeletionPolicy::Self:
        step.want(delete_job(seen));
        break;
    }
  }
  if (due.look_again) step.look_within(*due.look_again);
  if (auto write = release_gang(seen, rules, cluster_goes)) step.want(std::move(*write));
  return step;
}

}  // namespace krater::controllers
