// InteractiveMode: the cluster is there; the user submits a job and tells its id.
#include "controllers/rayjob/machine.h"

namespace krater::controllers {

JobStep on_waiting(const JobSeen& seen, const JobRules&, WallTime now) {
  JobStep step{seen.status};
  if (seen.job.suspend()) {
    step.next.phase = JobPhase::Suspending;
    return step;
  }
  if (past_active_deadline(seen, now, step) || past_pre_running_deadline(seen, now, step))
    return step;
  if (seen.job.job_id().empty()) return step;
  step.next.job_id = seen.job.job_id();
  step.next.phase = JobPhase::Running;
  return step;
}

}  // namespace krater::controllers
