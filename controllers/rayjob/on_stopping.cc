// Suspending and Retrying: everything of the attempt goes, really, before the next thing may begin.
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/cleanup.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// Pods that still end are nobody's event here.
constexpr Duration kPodsPoll = 1s;

PlannedWrite delete_submitter(const JobSeen& seen) {
  client::DeleteWrite write{kinds::kJob, seen.job->name_space(), seen.submitter->name(),
                            client::Propagation::Background};
  write.only_uid = seen.submitter->uid();
  const std::string what = "submitter Job " + seen.job->name_space() + "/" + seen.submitter->name();
  return PlannedWrite{
      std::move(write), Code::NotFound,
      job_event(Type::Normal, "DeletedRayJobSubmitter", "Deleted " + what, "Delete"),
      job_event(Type::Warning, "FailedToDeleteRayJobSubmitter", "Failed to delete " + what,
                "Delete")};
}

}  // namespace

JobStep on_stopping(const JobSeen& seen, const JobRules& rules, WallTime) {
  JobStep step{seen.status};
  bool waits = seen.cluster_pods_left;
  if (waits) step.look_within(kPodsPoll);
  // A selected cluster is not ours to delete (and validation allows neither suspend nor retries
  // with one).
  if (seen.cluster && !seen.job.has_selector()) {
    if (!seen.cluster.deleting()) step.want(delete_cluster(seen));
    waits = true;
  }
  if (seen.submitter_is_ours()) {
    if (!seen.submitter->deletion()) step.want(delete_submitter(seen));
    waits = true;
  }
  if (waits) return step;
  if (auto write = rules.scheduler.resize({}, seen.pod_group)) step.want(std::move(*write));

  RayJobStatus& next = step.next;
  next.cluster_status = Json(boost::json::object_kind);
  next.cluster_name.clear();
  next.dashboard_url.clear();
  next.job_id.clear();
  next.job_status.clear();
  next.message.clear();
  next.reason.clear();
  next.ray_start.reset();
  next.ray_end.reset();
  next.check_failing_since.reset();
  next.phase = seen.status.phase == JobPhase::Suspending ? JobPhase::Suspended : JobPhase::New;
  return step;
}

JobStep on_suspended(const JobSeen& seen) {
  JobStep step{seen.status};
  if (!seen.job.suspend()) step.next.phase = JobPhase::New;
  return step;
}

}  // namespace krater::controllers
