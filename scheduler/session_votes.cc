// What the plugins say together: each hook's answers become one (volcano.md 2.9).
#include <algorithm>

#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

// The first comparison that is not equal.
template <typename Hook, typename Compare>
int first_decisive(const Tiered<Hook>& hooks, Compare compare) {
  for (const auto& tier : hooks.tiers) {
    for (const Hook* hook : tier) {
      if (const int order = compare(*hook); order != 0) return order;
    }
  }
  return 0;
}

// A reject decides at once; otherwise the first tier in which anyone permits decides; nobody: yes.
template <typename Hook, typename Ask>
bool carried(const Tiered<Hook>& hooks, Ask ask) {
  for (const auto& tier : hooks.tiers) {
    bool permitted = false;
    for (const Hook* hook : tier) {
      const Vote vote = ask(*hook);
      if (vote == Vote::Reject) return false;
      permitted = permitted || vote == Vote::Permit;
    }
    if (permitted) return true;
  }
  return true;
}

template <typename Hook, typename Holds>
bool all_of(const Tiered<Hook>& hooks, Holds holds) {
  for (const auto& tier : hooks.tiers) {
    for (const Hook* hook : tier) {
      if (!holds(*hook)) return false;
    }
  }
  return true;
}

// Volcano's rule: within a tier the plugins' answers are intersected; one that is empty ends the
// tier, which then says nothing; an intersection that becomes empty is forgotten, so that the next
// plugin starts it anew (unless it is to mean nobody); the first tier that names somebody decides,
// and those after it are not asked.
template <typename Hook, typename Ask>
TaskRefs victims(const Tiered<Hook>& hooks, const Behaviors& behaviors, Ask ask) {
  for (const auto& tier : hooks.tiers) {
    TaskRefs out;
    for (const Hook* hook : tier) {
      const std::optional<TaskRefs> named = ask(*hook);
      if (!named) continue;
      if (named->empty()) {
        out.clear();
        break;
      }
      if (out.empty()) {
        out = *named;
        continue;
      }
      std::erase_if(out, [&](const TaskRef& one) {
        return std::find(named->begin(), named->end(), one) == named->end();
      });
      if (out.empty() && behaviors.empty_intersection_is_nobody) return {};
    }
    if (!out.empty()) return out;
  }
  return {};
}

}  // namespace

bool Session::job_before(JobId a, JobId b) const {
  const int order = first_decisive(
      plugins_.job_order, [&](const JobOrderHook& hook) { return hook.job_order(*this, a, b); });
  if (order != 0) return order < 0;
  if (job(a).created != job(b).created) return job(a).created < job(b).created;
  return job(a).key < job(b).key;
}

std::uint32_t Session::order_group(JobId id) const {
  for (const auto& tier : plugins_.job_order.tiers) {
    for (const JobOrderHook* hook : tier) {
      if (const std::uint32_t group = hook->order_group(id); group != 0) return group;
    }
  }
  return 0;
}

bool Session::queue_before(QueueId a, QueueId b) const {
  const int order = first_decisive(plugins_.queue_order, [&](const QueueOrderHook& hook) {
    return hook.queue_order(*this, a, b);
  });
  if (order != 0) return order < 0;
  if (queue(a).created != queue(b).created) return queue(a).created < queue(b).created;
  return a < b;
}

bool Session::task_before(const TaskSpec& a, const TaskSpec& b) const {
  const int order = first_decisive(
      plugins_.task_order, [&](const TaskOrderHook& hook) { return hook.task_order(a, b); });
  return order != 0 ? order < 0 : created_before(a, b);
}

std::optional<Refusal> Session::job_invalid(JobId id) const {
  for (const auto& tier : plugins_.job_valid.tiers) {
    for (const JobValidHook* hook : tier) {
      if (auto refusal = hook->job_valid(job(id))) return refusal;
    }
  }
  return std::nullopt;
}

bool Session::job_placed(JobId id) const {
  return all_of(plugins_.job_ready,
                [&](const JobReadyHook& hook) { return hook.job_placed(job(id)); });
}

bool Session::job_ready(JobId id) const {
  return all_of(plugins_.job_ready,
                [&](const JobReadyHook& hook) { return hook.job_ready(job(id)); });
}

bool Session::job_pipelined(JobId id) const {
  return carried(plugins_.job_pipelined,
                 [&](const JobPipelinedHook& hook) { return hook.job_pipelined(job(id)); });
}

std::optional<WallTime> Session::overdue_since(JobId id) const {
  for (const auto& tier : plugins_.overdue.tiers) {
    for (const OverdueHook* hook : tier) {
      if (const auto since = hook->overdue_since(job(id))) return since;
    }
  }
  return std::nullopt;
}

bool Session::may_enqueue(JobId id, Refusal& why) const {
  return carried(plugins_.enqueue,
                 [&](const EnqueueHook& hook) { return hook.may_enqueue(*this, id, why); });
}

bool Session::allocatable(QueueId queue_id, const TaskSpec& task, Refusal& why) const {
  if (!all_of(plugins_.allocatable, [&](const AllocatableHook& hook) {
        return hook.allocatable(*this, queue_id, task, why);
      })) {
    return false;
  }
  const bool stay_free =
      behaviors().guarantees_stay_free && behaviors().sibling_guarantees_reserved;
  return !stay_free || queue_id == kNoQueue ||
         guarantees_.leave_room(queue_id, task.shape->request, why);
}

bool Session::overused(QueueId queue_id, Refusal& why) const {
  return !all_of(plugins_.overused,
                 [&](const OverusedHook& hook) { return !hook.overused(*this, queue_id, why); });
}

bool Session::job_starving(JobId id) const {
  for (const auto& tier : plugins_.job_starving.tiers) {
    if (tier.empty()) continue;
    return std::all_of(tier.begin(), tier.end(),
                       [&](const JobStarvingHook* hook) { return hook->job_starving(job(id)); });
  }
  return false;
}

bool Session::preemptive(QueueId queue_id, const TaskSpec& task, Refusal& why) const {
  return all_of(plugins_.preemptive, [&](const PreemptiveHook& hook) {
    return hook.preemptive(*this, queue_id, task, why);
  });
}

TaskRefs Session::preemptable(TaskRef claimant, const TaskRefs& candidates) const {
  return victims(plugins_.preemptable, behaviors(), [&](const PreemptableHook& hook) {
    return hook.preemptable(*this, claimant, candidates);
  });
}

TaskRefs Session::reclaimable(TaskRef claimant, const TaskRefs& candidates) const {
  return without_return(
      claimant, victims(plugins_.reclaimable, behaviors(), [&](const ReclaimableHook& hook) {
        return hook.reclaimable(*this, claimant, candidates);
      }));
}

TaskRefs Session::without_return(TaskRef claimant, TaskRefs leaving) const {
  if (!behaviors().reclaim_avoids_return) return leaving;
  for (const auto& tier : plugins_.returns.tiers) {
    for (const ReturnHook* hook : tier) {
      if (leaving.empty()) return leaving;
      leaving = hook->without_return(*this, claimant, leaving);
    }
  }
  return leaving;
}

TaskRefs Session::gang_evictable(TaskRef claimant, const TaskRefs& candidates,
                                 bool across_queues) const {
  if (!behaviors().gang_eviction_asks_every_plugin) {
    return victims(plugins_.gang_evictable, behaviors(), [&](const GangEvictableHook& hook) {
      return std::optional(hook.gang_evictable(*this, claimant, candidates, across_queues));
    });
  }
  TaskRefs out = candidates;
  for (const auto& tier : plugins_.gang_evictable.tiers) {
    for (const GangEvictableHook* hook : tier) {
      if (out.empty()) return out;
      out = hook->gang_evictable(*this, claimant, out, across_queues);
    }
  }
  return out;
}

bool Session::guarded(const TaskSpec& task) const {
  return !all_of(plugins_.eviction_guard,
                 [&](const EvictionGuardHook& hook) { return !hook.protects(task); });
}

Resource Session::preemptable_in_queue(JobId id) const {
  Resource out;
  const bool preempts = config_.has_action("preempt") || config_.has_action("gangpreempt");
  if (!behaviors().enqueue_counts_evictable || !preempts || plugins_.preemptable.empty() ||
      queue_of(id) == kNoQueue) {
    return out;
  }
  for (const auto& [priority, allocated] : sums(queue_of(id)).by_priority) {
    if (priority < job(id).priority) out += allocated;
  }
  return out;
}

Resource Session::freeable(JobId id) const {
  Resource out;
  if (!behaviors().enqueue_counts_evictable) return out;
  for (const auto& tier : plugins_.freeable.tiers) {
    for (const FreeableHook* hook : tier) out += hook->freeable(*this, id);
  }
  return out;
}

// Same job: the last of its tasks. Same queue: the job that would be served last. Different queues:
// the queue that would be. What has not started yet goes before what runs.
bool Session::leaves_before(TaskRef a, TaskRef b, QueueId claimant) const {
  const TaskSpec &left = *task(a).spec, &right = *task(b).spec;
  const QueueId left_queue = queue_of(a.job), right_queue = queue_of(b.job);
  if (left_queue != right_queue) {
    const int order =
        first_decisive(plugins_.victim_queue_order, [&](const VictimQueueOrderHook& hook) {
          return hook.victim_queue_order(*this, claimant, left_queue, right_queue);
        });
    return order != 0 ? order < 0 : queue_before(right_queue, left_queue);
  }
  if (a.job != b.job) {
    const int order = first_decisive(plugins_.job_order, [&](const JobOrderHook& hook) {
      return hook.job_order(*this, a.job, b.job);
    });
    if (order != 0) return order > 0;
  }
  const int order = first_decisive(
      plugins_.task_order, [&](const TaskOrderHook& hook) { return hook.task_order(left, right); });
  if (order != 0) return order > 0;
  const bool left_runs = task(a).status == TaskStatus::Running;
  const bool right_runs = task(b).status == TaskStatus::Running;
  if (left_runs != right_runs) return right_runs;
  return created_before(right, left);
}

}  // namespace krater::scheduler
