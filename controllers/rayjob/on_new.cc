// Names everything before anything is made.
#include "controllers/ray/names.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {

JobStep on_new(const JobSeen& seen, const JobRules&, WallTime now) {
  JobStep step{seen.status};
  RayJobStatus& next = step.next;
  // The revision differs at every attempt, so no name comes back; the status that holds the names
  // is written under it, so they cannot be drawn twice for one attempt.
  const std::string attempt = seen.job->uid().text() + "/" + seen.job->revision().text();
  if (next.job_id.empty() || next.cluster_name.empty() || next.job_status.empty()) {
    if (seen.job.mode() != SubmissionMode::Interactive) {
      const std::string wished = seen.job.job_id();
      next.job_id = wished.empty() ? seen.job->name() + "-" + suffix_of(attempt + "/job") : wished;
    }
    next.cluster_name = seen.job.has_selector()
                            ? seen.job.selected_cluster()
                            : seen.job->name() + "-" + suffix_of(attempt + "/cluster");
  }
  next.start = now;
  next.phase = JobPhase::Initializing;
  return step;
}

}  // namespace krater::controllers
