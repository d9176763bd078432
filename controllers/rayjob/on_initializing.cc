// Gang, cluster, submitter: in this order, each once the one before is there.
#include "controllers/ray/names.h"
#include "controllers/ray/services.h"
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// "<service>.<namespace>.svc.<domain>:<port>", "" when the service has no port of that name (yet).
std::string dashboard_url(const JobSeen& seen, const JobRules& rules) {
  if (!seen.cluster_head_service) return {};
  const auto port = service_port(*seen.cluster_head_service->document(), "dashboard");
  if (!port) return {};
  return service_fqdn(seen.cluster_head_service->name(), seen.job->name_space(),
                      rules.cluster.cluster_domain) +
         ":" + std::to_string(*port);
}

// False: the gang's object cannot be made as wished.
bool ensure_gang(const JobSeen& seen, const JobRules& rules, JobStep& step) {
  if (seen.job.has_selector()) return true;
  auto write = rules.scheduler.sync(*seen.job.object(), job_gang_size(seen, rules), seen.pod_group);
  if (!write) {
    step.events.push_back(
        job_event(Type::Warning, "FailedToCreatePodGroup", write.error().message, "Create"));
    step.retry = write.error().message;
    return false;
  }
  if (*write) step.want(std::move(**write));
  return true;
}

}  // namespace

JobStep on_initializing(const JobSeen& seen, const JobRules& rules, WallTime now) {
  JobStep step{seen.status};
  if (seen.job.suspend()) {
    step.next.phase = JobPhase::Suspending;
    return step;
  }
  if (past_active_deadline(seen, now, step) || past_pre_running_deadline(seen, now, step))
    return step;
  if (!ensure_gang(seen, rules, step) || !ensure_cluster(seen, rules, step)) return step;

  if (step.next.dashboard_url.empty()) {
    if (seen.cluster.state() != "ready") return step;
    step.next.dashboard_url = dashboard_url(seen, rules);
    if (step.next.dashboard_url.empty()) {
      step.retry = "the head service of the RayCluster has no port named dashboard";
      return step;
    }
  }
  if (seen.job.mode() == SubmissionMode::Interactive) {
    step.next.phase = JobPhase::Waiting;
    return step;
  }
  if (!seen.submitter) {
    auto write = create_submitter(seen, step.next, rules);
    if (!write) {
      step.events.push_back(job_event(Type::Warning, "FailedToCreateRayJobSubmitter",
                                      write.error().message, "Create"));
      step.retry = write.error().message;
      return step;
    }
    step.want(std::move(*write));
  } else if (!seen.submitter_is_ours()) {
    const std::string message = "Job " + seen.job->name_space() + "/" + seen.job->name() +
                                " exists and does not belong to this RayJob; delete or rename it";
    step.events.push_back(
        job_event(Type::Warning, "FailedToCreateRayJobSubmitter", message, "Create"));
    step.retry = message;
    return step;
  }
  step.next.phase = JobPhase::Running;
  return step;
}

}  // namespace krater::controllers
