#include "controllers/vcjob/step.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "client/status_update.h"
#include "controllers/vcjob/children.h"
#include "controllers/vcjob/plugins/plugins.h"
#include "controllers/vcjob/pod_builder.h"
#include "controllers/vcjob/pod_group.h"
#include "controllers/vcjob/tally.h"
#include "controllers/vcjob/volumes.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

using Phase = VolcanoJobPhase;
using Type = EventNote::Type;
using Pods = std::vector<const PodFact*>;

constexpr Duration kLookAgain = 5s;                             // for what no object tells
constexpr std::size_t kGoAtOnce = 1000;                         // pods that one pass takes away
constexpr Duration kBeforeCounts = 200ms, kBeforePending = 1s;  // until they are told

PlannedWrite write_status(const Observed& seen, const Status& status) {
  return {client::status_update(kinds::kVolcanoJob, *seen.job.object(), status.to_json_value())};
}

// No later than the plan says already.
void look_again(Duration after, Plan& plan) {
  if (plan.outcome.what != Outcome::What::RequeueAfter || plan.outcome.after > after)
    plan.outcome = Outcome::requeue_after(after);
}

// How many pods are in which phase changes with each of them. As long as nothing else does, it is
// told a moment after it began to change: mostly the phase follows and takes it along, most of all
// when pods have only been made.
void tell_status(const Observed& seen, const Status& status, WallTime now, Settled& out) {
  if (status == seen.stored) return;
  Status but_for_counts = status;
  but_for_counts.counts = seen.stored.counts;
  const bool only_made = status.counts.pending > seen.stored.counts.pending &&
                         status.counts.but_for_pending() == seen.stored.counts.but_for_pending();
  const Duration pause = only_made ? kBeforePending : kBeforeCounts;
  const Duration left = seen.counts_since.value_or(now) + pause - now;
  const bool soon = left > Duration(0) && left <= pause;
  if (!soon || but_for_counts != seen.stored) {
    out.plan.then(write_status(seen, status));
    return;
  }
  out.counts_wait = true;
  look_again(left, out.plan);
}

std::set<std::string> names_of(const Pods& pods) {
  std::set<std::string> out;
  for (const PodFact* pod : pods) out.insert(pod->name());
  return out;
}

// First the mark that says whose doing their end is, then the end.
void remove_pods(const Pods& pods, Plan& plan) {
  std::vector<PlannedWrite> marks, removals;
  for (const PodFact* pod : pods) {
    const Object& object = *pod->object;
    if (!pod->out_of_sync) {
      Json patch(boost::json::object_kind);
      set_path(patch, {"metadata", "annotations", keys::kOutOfSync}, "true");
      marks.push_back({client::PatchWrite{kinds::kPod, object.name_space(), object.name(),
                                          client::PatchType::Merge, std::move(patch)},
                       Code::NotFound,
                       {},
                       EventNote{Type::Warning, "FailedDelete", "Error deleting pods"}});
    }
    if (pod->deleting) continue;
    client::DeleteWrite gone{kinds::kPod, object.name_space(), object.name()};
    gone.only_uid = object.uid();
    removals.push_back({std::move(gone),
                        Code::NotFound,
                        {},
                        EventNote{Type::Warning, "FailedDelete", "Error deleting pods"}});
  }
  plan.steps.push_back(std::move(marks));
  plan.steps.push_back(std::move(removals));
}

// However many there are: the others have their turn when these have gone.
void remove_some(Pods pods, Plan& plan) {
  if (pods.size() > kGoAtOnce) {
    pods.resize(kGoAtOnce);
    look_again(1ms, plan);
  }
  remove_pods(pods, plan);
}

void remove_pod_group(const Observed& seen, Plan& plan) {
  if (!seen.group || seen.group->deletion()) return;
  client::DeleteWrite gone{kinds::kPodGroup, seen.group->name_space(), seen.group->name()};
  gone.only_uid = seen.group->uid();
  plan.then({std::move(gone), Code::NotFound, {}, {}});
}

std::string running_duration(const Observed& seen, WallTime now) {
  return to_go_duration(now - seen.job->created().value_or(now));
}

// The ends of a job, and what it waits in while it is aborted: its pods get a new version, so what
// the old ones still do means nothing.
void follow(const Change& change, const Observed& seen, Status& status, WallTime now) {
  status.enter(change.next, change.reason, change.message, now);
  if (change.next != Phase::Completed && change.next != Phase::Failed) return;
  status.running_duration = running_duration(seen, now);
  if (is_active(seen.status.phase.value_or(Phase::Pending))) ++status.version;
}

Plan first_pass(const Observed& seen, WallTime now) {
  Status status = seen.status;
  status.enter(Phase::Pending, {}, {}, now);
  status.min_available = seen.job.min_available();
  Plan plan;
  return std::move(plan.then(write_status(seen, status)));
}

void mark_forwarding(const Observed& seen, Plan& plan) {
  if (!seen.forwards || seen.job.annotation(keys::kVolcanoForwarding) == "true") return;
  Json patch(boost::json::object_kind);
  set_path(patch, {"metadata", "annotations", keys::kVolcanoForwarding}, "true");
  plan.then({client::PatchWrite{kinds::kVolcanoJob, seen.job->name_space(), seen.job->name(),
                                client::PatchType::Merge, std::move(patch)}});
}

// What pods need before they are made. False: not now, and the plan says when.
bool prepare(const Observed& seen, Plan& plan) {
  if (!seen.queue_exists) {
    plan.events.push_back(
        {Type::Warning, "PodGroupError", "queue " + seen.job.queue().text() + " does not exist"});
    return false;
  }
  mark_forwarding(seen, plan);
  if (const std::string claim = missing_claim(seen); !claim.empty()) {
    plan.events.push_back({Type::Warning, "PVCError",
                           "Failed to create PVC, err: pvc " + claim +
                               " is not found, the job will be in the Pending state until the PVC "
                               "is created"});
    plan.outcome = Outcome::requeue_after(kLookAgain);
    return false;
  }
  PluginPlan plugins = sync_plugin_objects(seen);
  plan.steps.push_back(std::move(plugins.writes));
  if (plugins.has_predecessors) plan.outcome = Outcome::requeue_after(kLookAgain);
  if (plugins.needs_key || plugins.has_predecessors) return false;
  if (seen.pods.empty() && !plugins.held.empty()) {
    plan.events.push_back({Type::Warning, "PluginError",
                           "Execute plugin when job add failed, err: " + join(plugins.held, ", ") +
                               " is somebody else's and is used as it is"});
  }
  if (auto group = sync_pod_group(seen)) plan.then(*std::move(group));
  return seen.group && seen.group.phase() != PodGroupPhase::Pending && !seen.group->deletion();
}

PlannedWrite create_pod(const Observed& seen, const Place& place) {
  return {client::CreateWrite{kinds::kPod, seen.job->name_space(),
                              build_pod(seen, *place.task, place.index)},
          Code::AlreadyExists,
          {},
          EventNote{Type::Warning, "FailedCreate", "Error creating pods"}};
}

void create_pods(const Observed& seen, const Missing& missing, Plan& plan) {
  std::vector<PlannedWrite> creations;
  for (const Place& place : missing.places) creations.push_back(create_pod(seen, place));
  plan.steps.push_back(std::move(creations));
  if (missing.more) plan.outcome = Outcome::requeue_after(Duration(1ms));
  if (missing.taken_by_others.empty()) return;
  plan.events.push_back({Type::Warning, "FailedCreate",
                         "Error creating pods: the name " + missing.taken_by_others +
                             " is held by a pod of somebody else"});
  plan.outcome = Outcome::requeue_after(kLookAgain);
}

Settled on_active(const Observed& seen, WallTime now) {
  if (auto naming = name_claims(seen)) return {*std::move(naming)};
  Settled out;
  Plan& plan = out.plan;
  Status status = seen.status;
  const Pods unwanted = unwanted_pods(seen);
  const std::set<std::string> leaving = names_of(unwanted);
  status.counts = count(seen, status, leaving);
  std::optional<Change> change = follow_counts(seen, status.counts);
  const bool over = change && is_over(change->next);
  const bool clears = clearing(seen);
  // Who may not make all he needs tells what there is before he asks again.
  if (seen.creation_failed && !clears && !over) {
    Status now_there = status;
    now_there.min_available = seen.job.min_available();
    if (change) follow(*change, seen, now_there, now);
    if (now_there != seen.stored) {
      plan.then(write_status(seen, now_there));
      plan.outcome = Outcome::requeue_after(Duration(1ms));
      return out;
    }
  }
  // What pods read (hosts, say) is right before the pods themselves change.
  const bool may_create = !clears && !over && prepare(seen, plan);
  remove_some(unwanted, plan);
  if (clears) {
    remove_pod_group(seen, plan);
    if (!over) change.reset();
  } else if (!over) {
    if (may_create) {
      const Missing missing = missing_pods(seen, status);
      create_pods(seen, missing, plan);
      for (const Place& place : missing.places)
        status.counts.add(place.task->name, PodPhase::Pending);
      change = follow_counts(seen, status.counts);
    }
    mark_plugins(seen, status);
    mark_claims(seen, status);
  }
  status.min_available = seen.job.min_available();
  if (change) follow(*change, seen, status, now);
  tell_status(seen, status, now, out);
  return out;
}

// Aborting, Completing, Terminating and what comes after them: only pods that have ended stay.
Settled on_ending(const Observed& seen, WallTime now) {
  Settled out;
  Plan& plan = out.plan;
  Status status = seen.status;
  Pods alive;
  for (const PodFact& pod : seen.pods) {
    if (!pod.deleting && (!pod.finished() || pod.out_of_sync)) alive.push_back(&pod);
  }
  status.counts = count(seen, status, names_of(alive));
  unmark_plugins(status);
  if (const auto change = follow_counts(seen, status.counts)) follow(*change, seen, status, now);
  remove_some(alive, plan);
  remove_pod_group(seen, plan);
  plan.steps.push_back(remove_plugin_objects(seen));
  tell_status(seen, status, now, out);
  return out;
}

void end_of_life(const Observed& seen, WallTime now, Plan& plan) {
  const auto ttl = seen.job.ttl_after_finished_s();
  if (!ttl || !is_over(*seen.status.phase)) return;
  const Duration left = seen.status.transition.value_or(now) + std::chrono::seconds(*ttl) - now;
  if (left > Duration(0)) return look_again(left, plan);
  client::DeleteWrite gone{kinds::kVolcanoJob, seen.job->name_space(), seen.job->name(),
                           client::Propagation::Foreground};
  gone.only_uid = seen.job->uid();
  plan.then({std::move(gone), Code::NotFound, {}, {}});
}

void forget_successes(const Observed& seen, const Chosen& chosen, Status& status) {
  if (keeps_finished(chosen, seen) || chosen.action == VolcanoAction::RestartPod) return;
  if (chosen.reaction.scope == Scope::Job)
    status.forget_succeeded();
  else
    status.forget_succeeded(chosen.why.task);
}

}  // namespace

Plan act(const Observed& seen, const Chosen& chosen, WallTime now) {
  Status status = seen.status;
  const Pods targets = targets_of(chosen, seen);
  const std::string what(to_text(chosen.action));
  if (chosen.reaction.scope == Scope::Job) {
    ++status.version;
    status.running_duration = running_duration(seen, now);
  }
  if (costs_retry(chosen, seen)) ++status.retry_count;
  forget_successes(seen, chosen, status);
  status.counts = count(seen, status, names_of(targets));
  // In a full restart a single pod's restart changes nothing about what is being waited for.
  const bool same = seen.status.phase == Phase::Restarting &&
                    chosen.reaction.next == Phase::Restarting &&
                    chosen.reaction.scope == Scope::Target;
  if (!same) status.enter(chosen.reaction.next, what, chosen.why.text(), now);
  Plan plan;
  if (status != seen.stored) plan.then(write_status(seen, status));
  remove_pods(targets, plan);
  if (chosen.reaction.scope == Scope::Job) remove_pod_group(seen, plan);
  plan.events.push_back({Type::Normal, "ExecuteAction",
                         "Start to execute action " + what + ": " + chosen.why.text()});
  return plan;
}

Settled settle(const Observed& seen, WallTime now) {
  if (!seen.status.phase) return {first_pass(seen, now)};
  if (is_active(*seen.status.phase)) return on_active(seen, now);
  Settled out = on_ending(seen, now);
  end_of_life(seen, now, out.plan);
  return out;
}

}  // namespace krater::controllers::vcjob
