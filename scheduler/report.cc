#include "scheduler/report.h"

#include <algorithm>

#include "scheduler/actions/job_filter.h"
#include "scheduler/explain.h"
#include "scheduler/victim_votes.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

bool waits(const Task& task) {
  return task.status == TaskStatus::Pending || task.status == TaskStatus::Allocated ||
         task.status == TaskStatus::Pipelined;
}

// A member that has no node yet.
bool has_waiting(const JobInfo& job) {
  return job.count(TaskStatus::Pending) + job.count(TaskStatus::Allocated) + job.waiting_tasks() +
             job.count(TaskStatus::Binding) >
         0;
}

// Why nothing of a job without PodGroup is placed.
std::string group_missing(const JobInfo& job, const std::optional<Refusal>& refusal) {
  if (refusal) return refusal->message;
  if (job.awaits_group()) return "its PodGroup has not been made yet";
  return "pod group " + job.key.text() + " does not exist";
}

void add_waiting(const Session& session, JobId id, const std::optional<Refusal>& refusal,
                 JobReport& out) {
  const JobInfo& job = session.job(id);
  const JobNote& note = session.note(id);
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    const Task& task = job.tasks[t];
    if (!waits(task) || task.spec->gated) continue;
    if (!job.known) {
      out.waiting.push_back({task.spec, "Unschedulable", group_missing(job, refusal)});
      continue;
    }
    TaskReason why = task_reason(session, {id, t});
    const bool fits_nowhere = task.status == TaskStatus::Pending && note.fit_errors.contains(t);
    const bool is_void =
        fits_nowhere && !task.spec->nominated.empty() && !session.room_is_coming(*task.spec);
    out.waiting.push_back({task.spec, std::move(why.reason), std::move(why.message), is_void});
  }
}

// What no longer holds is not left standing beside what does.
void retract_opposite(PodGroupStatus& status, const PodGroupCondition& news) {
  const std::string_view opposite = news.type == "Scheduled" ? "Unschedulable" : "Scheduled";
  for (PodGroupCondition& one : status.conditions) {
    if (one.type != opposite || one.status != "True") continue;
    one.status = "False";
    one.transition_id = news.transition_id;
    one.last_transition = news.last_transition;
    one.reason = news.reason;
    one.message.clear();
  }
}

PodGroupStatus group_status(const Session& session, JobId id, bool missed) {
  const JobInfo& job = session.job(id);
  PodGroupStatus status = PodGroupView(job.group).status();
  std::optional<PodGroupCondition> missing;
  if (missed) missing = unschedulable_condition(session, id);
  const PodGroupCondition* news = missing ? &*missing : session.condition(id);
  if (news != nullptr) {
    retract_opposite(status, *news);
    status.set(*news);
  }
  status.phase =
      next_phase(job, news != nullptr && news->type == "Unschedulable", session.behaviors());
  status.running = job.count(TaskStatus::Running);
  status.succeeded = job.count(TaskStatus::Succeeded);
  status.failed = job.count(TaskStatus::Failed);
  return status;
}

// Tried with all its members there; the cluster has what it asks for, but no node has it in one
// piece.
bool is_fragmented(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  if (!session.behaviors().fragmented_jobs_reserve_nothing) return false;
  if (job.phase != PodGroupPhase::Inqueue || session.note(id).fit_errors.empty()) return false;
  if (job.valid_tasks() < job.min_member) return false;
  return job.pending.fits_in(session.total() - session.used());
}

}  // namespace

PodGroupPhase next_phase(const JobInfo& job, bool unschedulable_now, const Behaviors& behaviors) {
  if (unschedulable_now && job.count(TaskStatus::Running) > 0) return PodGroupPhase::Unknown;
  const std::int64_t completed = job.count(TaskStatus::Succeeded) + job.count(TaskStatus::Failed);
  std::int64_t placed = job.count(TaskStatus::Running) + job.count(TaskStatus::Bound) + completed;
  for (const Task& task : job.tasks) {
    if (task.status == TaskStatus::Releasing && task.node != kNoNode) ++placed;
  }
  if (placed > 0 && placed >= job.min_member) {
    // Where all that came before has failed, who waits is admitted anew.
    const bool more =
        behaviors.waiting_members_keep_groups_running && has_waiting(job) && job.ready_tasks() > 0;
    return placed == completed && !more ? PodGroupPhase::Completed : PodGroupPhase::Running;
  }
  // Nobody is asked for and nobody is there (a suspended RayCluster, a RayJob after its end): as
  // upstream, there is nothing left to do.
  if (job.min_member == 0 && job.tasks.empty()) return PodGroupPhase::Completed;
  // What is done is done, even when its pods are cleared away.
  if (behaviors.completed_groups_stay && job.phase == PodGroupPhase::Completed && job.tasks.empty())
    return PodGroupPhase::Completed;
  // Who lost his places to others was admitted once and queues for nodes again.
  const bool queues_again = behaviors.evicted_gangs_stay_inqueue && job.displaced;
  return job.phase == PodGroupPhase::Inqueue || queues_again ? PodGroupPhase::Inqueue
                                                             : PodGroupPhase::Pending;
}

std::vector<JobReport> report(const Session& session,
                              const std::function<bool(const JobKey&)>& wanted,
                              const std::function<bool(const JobKey&)>& overdue) {
  std::vector<JobReport> out;
  const auto binds = session.bound_tasks();
  for (JobId id = 0; id < session.job_count(); ++id) {
    const JobInfo& job = session.job(id);
    if (session.parked(id)) continue;
    // No group is made in a queue that takes none; else it comes at once.
    const auto no_group = job.awaits_group() ? queue_refusal(session, id) : std::nullopt;
    const bool bare = job.is_bare() || (job.awaits_group() && !no_group);
    const bool missed = bare && overdue(job.key);
    const bool waiting = bare ? missed : job.open();
    if (!waiting && !bare && !wanted(job.key)) continue;
    JobReport one;
    one.key = job.key;
    one.group = job.group;
    one.version = job.version;
    if (waiting || job.known) add_waiting(session, id, no_group, one);
    one.unsatisfied = waiting;
    one.bare = bare;
    one.incomplete = job.valid_tasks() < job.min_member;
    one.starting = job.count(TaskStatus::Binding) + job.count(TaskStatus::Bound) > 0;
    one.gathering = waiting && !missed && one.incomplete;
    one.can_park =
        waiting && !binds.contains(id) && job.waiting_tasks() == 0 && !session.note(id).put_off;
    one.again = session.note(id).again;
    one.fragmented = one.can_park && is_fragmented(session, id);
    one.queue = job.queue;
    if (job.group) {
      one.status = group_status(session, id, missed);
      one.hyper_node = session.domain_of(id);
    }
    if (waiting && !binds.contains(id)) {
      one.why_code = no_group ? no_group->code : why_code(session, id);
      if (job.group) one.why = why_pending(session, id);
    }
    const JobNote& note = session.note(id);
    if (note.refused_admission && note.refusal) {
      one.refusal = note.refusal->message;
      if (!note.refusal->figures.empty()) one.refusal += " (" + note.refusal->figures + ")";
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<GangBind> gang_binds(const Session& session) {
  std::vector<GangBind> out;
  for (const auto& [id, tasks] : session.bound_tasks()) {
    GangBind bind;
    bind.job = session.job(id).key;
    bind.queue = session.job(id).queue;
    bind.action = std::string(session.bound_by(id));
    for (const std::uint32_t t : tasks) {
      const Task& task = session.job(id).tasks[t];
      bind.members.push_back({task.spec, task.node, session.node(task.node).name});
      for (const auto& tier : session.plugins().bind_notes.tiers) {
        for (const BindNotesHook* hook : tier)
          hook->annotate(session, {id, t}, bind.members.back().annotations);
      }
    }
    out.push_back(std::move(bind));
  }
  return out;
}

std::vector<GangEviction> gang_evictions(const Session& session) {
  std::vector<GangEviction> out;
  for (const Eviction& one : session.evictions()) {
    const JobInfo& claimant = session.job(one.claimant);
    GangEviction next{claimant.key, claimant.queue, claimant.priority, std::string(one.action),
                      names_of(session.config(), one.offered_by)};
    for (const TaskRef& victim : one.victims)
      next.victims.push_back({session.task(victim).spec, session.job(victim.job).group});
    for (const TaskRef& nominee : one.nominated) {
      const Task& task = session.task(nominee);
      next.nominees.push_back({task.spec, session.node(task.node).name});
    }
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace krater::scheduler
