// The Ray job runs: its submitter and its dashboard say how it goes.
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

using What = DashboardAnswer::What;

// Reported as over, but the last step never came: after a while that is believed. True: decided.
bool past_transition_grace(const JobSeen& seen, const JobRules& rules, WallTime now,
                           JobStep& step) {
  if (!is_terminal_ray_status(seen.status.job_status) || !seen.status.ray_end) return false;
  const Duration left = *seen.status.ray_end + rules.transition_grace - now;
  if (left > 0s) {
    step.look_within(left);
    return false;
  }
  step.next.phase =
      seen.status.job_status == ray_status::kFailed ? JobPhase::Failed : JobPhase::Complete;
  step.next.reason = job_reason::kTransitionGraceExceeded;
  return true;
}

bool past_status_check_timeout(const JobSeen& seen, const JobRules& rules, WallTime now,
                               JobStep& step) {
  if (!seen.status.check_failing_since) return false;
  const Duration left = *seen.status.check_failing_since + rules.status_check_timeout - now;
  if (left > 0s) {
    step.look_within(left);
    return false;
  }
  step.fail(job_reason::kStatusCheckTimeout, "The status of Ray job " + seen.status.job_id +
                                                 " could not be read since " +
                                                 to_rfc3339(*seen.status.check_failing_since));
  return true;
}

// "YYYY-MM-DD hh:mm:ss"
std::string plain_time(WallTime time) {
  std::string text = to_rfc3339(time);
  text.replace(10, 1, " ");
  text.pop_back();
  return text;
}

// The submitter gave up or is long done while Ray does not say so. True: decided. What Ray has said
// since counts first, so that a controller that was away does not fail a job that is done.
bool submitter_decides(const JobSeen& seen, const SubmitterEnd& end, const JobRules& rules,
                       WallTime now, JobStep& step) {
  const WallTime limit = end.at + rules.submitter_timeout;
  const bool heard_since = seen.answer && seen.answer->asked >= limit;
  const bool over =
      seen.answer && seen.answer->what == What::Job && is_terminal_ray_status(seen.answer->status);
  if (!over && now >= limit && heard_since) {
    step.next.job_status = ray_status::kFailed;
    step.fail(
        job_reason::kTransitionGraceExceeded,
        "The RayJob submitter finished at " + plain_time(end.at) +
            " but the ray job did not reach terminal state within " +
            std::to_string(
                std::chrono::duration_cast<std::chrono::seconds>(rules.submitter_timeout).count()) +
            "s");
    return true;
  }
  if (now < limit) step.look_within(limit - now);
  if (!end.failed) return false;
  if (seen.status.job_status == ray_status::kFailed) {
    step.fail(job_reason::kAppFailed, seen.status.message);
  } else {
    step.fail(job_reason::kSubmissionFailed, "The submitter Job " + seen.job->name_space() + "/" +
                                                 seen.job->name() + " failed: " + end.reason +
                                                 ": " + end.message);
  }
  return true;
}

void take_answer(const JobSeen& seen, const std::optional<SubmitterEnd>& end, WallTime now,
                 JobStep& step) {
  if (!seen.answer) return;
  const DashboardAnswer& answer = *seen.answer;
  RayJobStatus& next = step.next;
  if (answer.what == What::Problem) {
    if (!next.check_failing_since) next.check_failing_since = now;
    return;
  }
  if (answer.what == What::NoSuchJob) {
    // Times of conditions are whole seconds: only an answer from the next second on is surely
    // later.
    if (end && answer.asked >= end->at + 1s) {
      step.fail(job_reason::kAppFailed, "Submitter completed but Ray job not found in RayCluster.");
    }
    return;
  }
  next.check_failing_since.reset();
  next.job_status = answer.status;
  next.message = answer.message;
  next.reason.clear();
  if (answer.start) next.ray_start = answer.start;
  if (answer.end) next.ray_end = answer.end;
  const bool submitter_done = end.has_value() || seen.job.mode() != SubmissionMode::K8sJob;
  if (!is_terminal_ray_status(answer.status) || !submitter_done) return;
  if (answer.status == ray_status::kFailed) {
    step.fail(job_reason::kAppFailed, answer.message);
  } else {
    next.phase = JobPhase::Complete;
  }
}

}  // namespace

JobStep on_running(const JobSeen& seen, const JobRules& rules, WallTime now) {
  JobStep step{seen.status};
  if (seen.job.suspend()) {
    step.next.phase = JobPhase::Suspending;
    return step;
  }
  if (past_active_deadline(seen, now, step) || past_transition_grace(seen, rules, now, step) ||
      past_status_check_timeout(seen, rules, now, step)) {
    return step;
  }
  if (!ensure_cluster(seen, rules, step)) return step;
  if (auto write = ensure_head_service(seen, rules)) step.want(std::move(*write));
  // A changed queue or priority moves the gang.
  if (auto write = rules.scheduler.follow_owner(*seen.job.object(), seen.pod_group))
    step.want(std::move(*write));

  std::optional<SubmitterEnd> end;
  if (seen.job.mode() == SubmissionMode::K8sJob) {
    if (!seen.submitter) {
      // Somebody deleted it. Its command is guarded by the job id: a new one follows the job that
      // runs.
      if (auto write = create_submitter(seen, step.next, rules)) {
        step.want(std::move(*write));
      } else {
        step.retry = write.error().message;
      }
      return step;
    }
    end = submitter_end(seen.submitter);
    if (end && submitter_decides(seen, *end, rules, now, step)) return step;
  }
  take_answer(seen, end, now, step);
  return step;
}

}  // namespace krater::controllers
