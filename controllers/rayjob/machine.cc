#include "controllers/rayjob/machine.h"

#include <algorithm>

#include "base/check.h"
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/transitions.h"
#include "controllers/rayjob/validate.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// How long a stop call may hold the finalizer.
constexpr Duration kStopPatience = 15s;

PlannedWrite patch_job(const RayJobView& job, Json patch, std::string subresource) {
  client::PatchWrite write{kinds::kRayJob,           job->name_space(), job->name(),
                           client::PatchType::Merge, std::move(patch),  std::move(subresource)};
  write.only_if = job->revision();
  return PlannedWrite{std::move(write)};
}

PlannedWrite set_finalizers(const RayJobView& job, const std::vector<std::string>& names) {
  JsonArray list;
  for (const std::string& name : names) list.push_back(Json(name));
  return patch_job(job, JsonObject{{"metadata", JsonObject{{"finalizers", std::move(list)}}}}, "");
}

// The RayJob is being deleted: its Ray job is asked to stop, then the finalizer goes. Nothing may
// hold it for long.
Plan plan_deletion(const JobSeen& seen) {
  Plan plan;
  if (!seen.job.has_finalizer()) return plan;
  if (wants_stop_call(seen)) {
    plan.outcome = Outcome::requeue_after(kStopPatience);
    return plan;
  }
  std::vector<std::string> rest = seen.job->finalizers();
  std::erase(rest, ray_keys::kJobFinalizer);
  PlannedWrite write = set_finalizers(seen.job, rest);
  write.fine_if = Code::NotFound;
  plan.then(std::move(write));
  return plan;
}

// Specs are judged while they can still matter; what runs down or is over is left in peace.
bool is_judged(JobPhase phase) {
  return !is_terminal(phase) && phase != JobPhase::Suspending && phase != JobPhase::Retrying;
}

JobStep on_invalid(const JobSeen& seen, const JobProblem& problem) {
  JobStep step{seen.status};
  const bool news =
      seen.status.phase != JobPhase::ValidationFailed || seen.status.message != problem.message;
  step.next.phase = JobPhase::ValidationFailed;
  step.next.reason = job_reason::kValidationFailed;
  step.next.message = problem.message;
  if (news)
    step.events.push_back(job_event(Type::Warning, problem.reason, problem.message, "Validate"));
  return step;
}

// The spec was put right: go on where it stood.
JobStep on_valid_again(const JobSeen& seen) {
  JobStep step{seen.status};
  step.next.phase = seen.status.cluster_name.empty() ? JobPhase::New : JobPhase::Initializing;
  step.next.reason.clear();
  step.next.message.clear();
  return step;
}

JobStep handle(const JobSeen& seen, const JobRules& rules, WallTime now) {
  if (is_judged(seen.status.phase)) {
    if (const auto problem = judge_job(seen.job)) return on_invalid(seen, *problem);
  }
  switch (seen.status.phase) {
    case JobPhase::New:
      return on_new(seen, rules, now);
    case JobPhase::Initializing:
      return on_initializing(seen, rules, now);
    case JobPhase::Waiting:
      return on_waiting(seen, rules, now);
    case JobPhase::Running:
      return on_running(seen, rules, now);
    case JobPhase::Suspending:
    case JobPhase::Retrying:
      return on_stopping(seen, rules, now);
    case JobPhase::Suspended:
      return on_suspended(seen);
    case JobPhase::Complete:
    case JobPhase::Failed:
      return on_finished(seen, rules, now);
    case JobPhase::ValidationFailed:
      return on_valid_again(seen);
  }
  return JobStep{seen.status};
}

// Counts the attempt that has just ended, and turns a failure that may be repeated into Retrying.
void settle(const JobSeen& seen, JobStep& step, WallTime now) {
  if (step.next.phase == seen.status.phase) return;
  CHECK_MSG(has_edge(seen.status.phase, step.next.phase), to_text(step.next.phase));
  if (step.next.phase == JobPhase::Failed) {
    ++step.next.failed;
    const auto limit = seen.job.backoff_limit();
    const bool final_reason = step.next.reason == job_reason::kDeadlineExceeded ||
                              step.next.reason == job_reason::kStatusCheckTimeout;
    if (limit && step.next.failed < *limit + 1 && !final_reason)
      step.next.phase = JobPhase::Retrying;
  } else if (step.next.phase == JobPhase::Complete &&
             step.next.job_status == ray_status::kSucceeded) {
    ++step.next.succeeded;
  }
  if (is_terminal(step.next.phase)) step.next.end = now;
}

Plan to_plan(const JobSeen& seen, JobStep step) {
  Plan plan;
  plan.steps = std::move(step.writes);
  const Json& before = seen.job.status_json();
  Json patch = merge_difference(before, step.next.to_json_value(before));
  const bool moves = step.next.phase != seen.status.phase;
  // A status that only gained its zeroes is not worth a write.
  if (moves || !patch.get_object().empty()) {
    const bool first = before.get_object().empty() && !moves;
    if (!first) plan.then(patch_job(seen.job, JsonObject{{"status", std::move(patch)}}, "status"));
  }
  plan.events = std::move(step.events);
  if (step.retry) {
    plan.outcome = Outcome::retry(*step.retry);
  } else if (step.look_again) {
    plan.outcome = Outcome::requeue_after(*step.look_again);
  }
  return plan;
}

}  // namespace

void JobStep::look_within(Duration delay) {
  delay = std::max(delay, Duration(1ms));
  look_again = look_again ? std::min(*look_again, delay) : delay;
}

void JobStep::fail(std::string_view reason, std::string message) {
  next.phase = JobPhase::Failed;
  next.reason = reason;
  next.message = std::move(message);
}

Plan step_job(const JobSeen& seen, const JobRules& rules, WallTime now) {
  if (!seen.job || !seen.job.managed_here()) return {};
  if (seen.job.deleting()) return plan_deletion(seen);
  if (!seen.job.has_finalizer()) {
    // First of all, so that nothing is ever made for a RayJob that can vanish without us.
    Plan plan;
    std::vector<std::string> names = seen.job->finalizers();
    names.emplace_back(ray_keys::kJobFinalizer);
    plan.then(set_finalizers(seen.job, names));
    return plan;
  }
  JobStep step = handle(seen, rules, now);
  settle(seen, step, now);
  return to_plan(seen, std::move(step));
}

std::optional<DashboardWish> wants_polling(const JobSeen& seen) {
  if (!seen.job || seen.job.deleting() || seen.status.phase != JobPhase::Running)
    return std::nullopt;
  if (seen.status.job_id.empty() || seen.status.dashboard_url.empty()) return std::nullopt;
  const bool soon =
      submitter_end(seen.submitter).has_value() || is_terminal_ray_status(seen.status.job_status);
  return DashboardWish{seen.status.job_id, soon ? Duration(500ms) : Duration(3s)};
}

bool wants_stop_call(const JobSeen& seen) {
  return seen.job && seen.job.deleting() && seen.job.has_finalizer() && seen.job.managed_here() &&
         seen.stop != StopCall::Over && !is_terminal_ray_status(seen.status.job_status) &&
         !seen.status.job_id.empty() && seen.dashboard_address.has_value();
}

}  // namespace krater::controllers
