#include "controllers/job/step.h"

#include <algorithm>

#include "client/status_update.h"
#include "controllers/job/ending.h"
#include "controllers/job/job_status.h"
#include "controllers/job/pod_changes.h"
#include "controllers/job/tally.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

WallTime whole_seconds(WallTime time) {
  return WallTime::from_unix_seconds(time.unix_seconds());
}

PlannedWrite remove_pod(const PodFact& pod) {
  client::DeleteWrite write{kinds::kPod, pod.object->name_space(), pod.object->name()};
  write.only_uid = pod.object->uid();
  return {std::move(write), Code::NotFound,
          EventNote{Type::Normal, "SuccessfulDelete", "Deleted pod: " + pod.object->name()},
          EventNote{Type::Warning, "FailedDelete", "Error deleting"}};
}

PlannedWrite create_pod(const JobView& job, const NewPod& pod) {
  return {client::CreateWrite{kinds::kPod, job->name_space(), pod_from_template(job, pod)},
          Code::AlreadyExists,
          EventNote{Type::Normal, "SuccessfulCreate", "Created pod: " + pod.name},
          EventNote{Type::Warning, "FailedCreate", "Error creating"}};
}

PlannedWrite write_status(const JobView& job, const JobStatus& status) {
  return {client::status_update(kinds::kJob, *job.object(), status.to_json_value()), {}, {}, {}};
}

void count_now(JobStatus& status, const std::vector<PodFact>& pods) {
  status.active = status.ready = status.terminating = 0;
  for (const PodFact& pod : pods) {
    status.active += pod.active() ? 1 : 0;
    status.ready += pod.active() && pod.ready ? 1 : 0;
    status.terminating += pod.terminating() ? 1 : 0;
  }
}

// Suspended and resumed, and the start of the clock.
void follow_suspension(const JobView& job, JobStatus& status, WallTime now, Plan& plan) {
  if (job.suspended()) {
    if (status.set("Suspended", true, "JobSuspended", "Job suspended", now)) {
      plan.events.push_back({Type::Normal, "Suspended", "Job suspended"});
    }
    return;
  }
  if (status.set("Suspended", false, "JobResumed", "Job resumed", now)) {
    plan.events.push_back({Type::Normal, "Resumed", "Job resumed"});
    status.start = whole_seconds(now);
  }
  if (!status.start) status.start = whole_seconds(now);
}

void finish(const Ending& ending, JobStatus& status, WallTime now, Plan& plan) {
  status.set(ending.terminal(), true, ending.reason, ending.message, now);
  if (ending.success) {
    status.completion = whole_seconds(now);
    plan.events.push_back({Type::Normal, "Completed", "Job completed"});
  } else {
    plan.events.push_back({Type::Warning, ending.reason, ending.message});
  }
}

Plan on_finished(const JobObserved& seen, WallTime now) {
  Plan plan;
  std::vector<PlannedWrite> release;
  for (const PodFact& pod : seen.pods) {
    if (pod.tracked) release.push_back(untrack(pod.object));
  }
  plan.steps.push_back(std::move(release));
  const auto ttl = seen.job.ttl_after_finished_s();
  if (!ttl || seen.job->deletion()) return plan;
  const Duration left = seen.job.finished_at().value_or(now) + std::chrono::seconds(*ttl) - now;
  if (left > Duration(0)) {
    plan.outcome = Outcome::requeue_after(left);
    return plan;
  }
  client::DeleteWrite gone{kinds::kJob, seen.job->name_space(), seen.job->name(),
                           client::Propagation::Foreground};
  gone.only_uid = seen.job->uid();
  gone.only_if = seen.job->revision();  // a raised ttl must be seen
  return std::move(plan.then({std::move(gone), Code::NotFound, {}, {}}));
}

}  // namespace

PlannedWrite untrack(const ObjectPtr& pod) {
  JsonArray left;
  for (const std::string& finalizer : pod->finalizers()) {
    if (finalizer != keys::kJobTracking) left.emplace_back(finalizer);
  }
  Json patch(boost::json::object_kind);
  set_path(patch, {"metadata", "finalizers"}, left.empty() ? Json(nullptr) : Json(std::move(left)));
  client::PatchWrite write{kinds::kPod, pod->name_space(), pod->name(), client::PatchType::Merge,
                           std::move(patch)};
  write.only_if = pod->revision();  // the list is written whole
  return {std::move(write), Code::NotFound, {}, {}};
}

Plan step(const JobObserved& seen, WallTime now) {
  const JobView& job = seen.job;
  if (job.finished()) return on_finished(seen, now);
  Plan plan;
  const JobStatus before = JobStatus::of(job);
  Tally counted = tally(job, seen.pods);
  JobStatus& status = counted.status;
  count_now(status, seen.pods);
  // Before the ending: resuming starts the deadline's clock anew.
  const bool decided = status.has("SuccessCriteriaMet") || status.has("FailureTarget");
  if (!decided) follow_suspension(job, status, now, plan);
  const std::optional<Ending> ending = find_ending(job, seen.pods, counted, now);

  std::vector<PlannedWrite> release, removals, creations;
  for (const PodFact& pod : counted.release) release.push_back(untrack(pod.object));
  const bool leaving = job->deletion().has_value();
  std::optional<Duration> come_back;
  if (ending) {
    status.set(ending->target(), true, ending->reason, ending->message, now);
    for (const PodFact& pod : seen.pods) {
      if (pod.active()) removals.push_back(remove_pod(pod));
    }
    const bool quiet = status.active == 0 && status.terminating == 0;
    if (quiet && !counted.tracked_left && !status.uncounted()) finish(*ending, status, now, plan);
  } else if (!leaving) {
    const PodChanges changes = wanted_changes(job, seen.pods, counted, seen.names, now);
    for (const PodFact& pod : changes.remove) {
      if (pod.tracked) release.push_back(untrack(pod.object));
      removals.push_back(remove_pod(pod));
    }
    for (const NewPod& pod : changes.create) creations.push_back(create_pod(job, pod));
    come_back = changes.come_back;
    if (const auto left = until_deadline(job, status, now))
      come_back = std::min(come_back.value_or(*left), *left);
  }
  if (status != before || object_at(job.document(), {"status"}) == nullptr)
    plan.then(write_status(job, status));
  plan.steps.push_back(std::move(release));
  plan.steps.push_back(std::move(removals));
  plan.steps.push_back(std::move(creations));
  if (come_back) plan.outcome = Outcome::requeue_after(std::max(*come_back, Duration(1ms)));
  return plan;
}

}  // namespace krater::controllers
