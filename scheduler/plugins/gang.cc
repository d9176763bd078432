// gang: all of a job's minimum, or nothing. Orders jobs that are not ready before those that are,
// and writes the conditions that say so (volcano.md 4.1).
#include <algorithm>
#include <map>

#include "scheduler/eviction.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// Every role has its minimum, counted over the tasks that `counted` accepts.
bool roles_have(const JobInfo& job, bool (*counted)(const Task&)) {
  if (job.role_minimums.empty() || !job.roles_bind()) return true;
  const auto have = job.by_role(counted);
  for (const auto& [role, minimum] : job.role_minimums) {
    if (minimum <= 0) continue;
    const auto count = have.find(role);
    if (count == have.end() || count->second < minimum) return false;
  }
  return true;
}

bool counts_as_ready(const Task& task) {
  return is_allocated(task.status) || task.status == TaskStatus::Succeeded ||
         (task.status == TaskStatus::Pending && task.spec->shape->best_effort());
}
// Really: what requests nothing counts only once it has a node.
bool counts_as_placed(const Task& task) {
  return is_allocated(task.status) || task.status == TaskStatus::Succeeded;
}
bool counts_as_pipelined(const Task& task) {
  return counts_as_ready(task) || task.status == TaskStatus::Pipelined;
}
bool counts_as_valid(const Task& task) {
  return counts_as_pipelined(task) || task.status == TaskStatus::Pending;
}

// Members that are on their way out still hold a node: the gang was placed and is ending. One that
// has failed is lost to those who go on.
bool ending(const JobInfo& job) {
  if (job.count(TaskStatus::Pending) + job.count(TaskStatus::Pipelined) > 0) return false;
  std::int64_t placed = job.count(TaskStatus::Running) + job.count(TaskStatus::Bound) +
                        job.count(TaskStatus::Succeeded);
  if (job.count(TaskStatus::Running) == 0) placed += job.count(TaskStatus::Failed);
  for (const Task& task : job.tasks) {
    if (task.status == TaskStatus::Releasing && task.node != kNoNode) ++placed;
  }
  return placed >= job.min_member;
}

// How much of a job may go before its gang falls. `whole`: what its roles and sub-groups need
// counts as well, as long as they have it; else its minimum alone.
class Leeway {
 public:
  Leeway(const JobInfo& job, bool whole) : job_(job), ready_(job.ready_tasks()) {
    if (!whole || ready_ <= job.min_member || !gang_stands(job)) return;
    if (job.roles_bind() && !job.role_minimums.empty()) roles_ = job.by_role(counts_as_placed);
    groups_ = job.sub_groups;
  }

  // False: it is needed. True: it is counted as gone.
  bool spend(const Task& task) {
    if (ready_ <= job_.min_member) return false;
    const auto minimum = job_.role_minimums.find(task.spec->role);
    const auto role =
        minimum == job_.role_minimums.end() ? roles_.end() : roles_.find(minimum->first);
    if (role != roles_.end() && role->second <= minimum->second) return false;
    if (!groups_.empty() && !spend_of(groups_[task.sub_group])) return false;
    if (role != roles_.end()) --role->second;
    --ready_;
    return true;
  }

 private:
  bool spend_of(SubGroup& group) {
    --group.ready;
    const bool enough = minimums_met(*job_.sub_group_policies, groups_,
                                     [](const SubGroup& one) { return one.is_ready(); });
    if (!enough) ++group.ready;
    return enough;
  }

  const JobInfo& job_;
  std::int64_t ready_;
  std::map<std::string, std::int64_t> roles_{};  // where they count: what is there of them
  std::vector<SubGroup> groups_{};               // likewise
};

class Gang final : public Plugin,
                   public JobValidHook,
                   public JobOrderHook,
                   public JobReadyHook,
                   public JobPipelinedHook,
                   public SubGroupOrderHook,
                   public SubGroupReadyHook,
                   public SubGroupPipelinedHook,
                   public JobStarvingHook,
                   public PreemptableHook,
                   public ReclaimableHook,
                   public KeeperHook {
 public:
  std::string_view keeps_as() const override { return "are needed by their gangs"; }
  bool keeps_gangs_together() const override { return true; }
  std::optional<Refusal> job_valid(const JobInfo& job) const override {
    if (!roles_have(job, counts_as_valid)) {
      return Refusal{"NotEnoughPodsOfTask",
                     "Not enough valid pods of each task for gang-scheduling", "",
                     codes::kNotEnoughPods};
    }
    if (!job.sub_groups_valid()) {
      return Refusal{"NotEnoughPodsOfTask",
                     "Not enough valid subGroups of each task for gang-scheduling", "",
                     codes::kNotEnoughPods};
    }
    if (job.valid_tasks() >= job.min_member) return std::nullopt;
    return Refusal{
        "NotEnoughTasks",
        "Not enough valid tasks for gang-scheduling, valid: " + std::to_string(job.valid_tasks()) +
            ", min: " + std::to_string(job.min_member),
        "", codes::kNotEnoughPods};
  }

  int job_order(const Session& session, JobId a, JobId b) const override {
    const bool a_ready = ready(session.job(a)), b_ready = ready(session.job(b));
    return a_ready == b_ready ? 0 : a_ready ? 1 : -1;
  }
  bool job_ready(const JobInfo& job) const override { return ready(job); }
  bool job_placed(const JobInfo& job) const override { return all_placed(job) && ready(job); }
  Vote job_pipelined(const JobInfo& job) const override {
    const bool permitted =
        job.is_pipelined() && roles_have(job, counts_as_pipelined) && job.sub_groups_pipelined();
    return permitted ? Vote::Permit : Vote::Reject;
  }

  int sub_group_order(const SubGroupTurn& a, const SubGroupTurn& b) const override {
    return a.done == b.done ? 0 : a.done ? 1 : -1;
  }
  bool sub_group_ready(const SubGroup& group) const override { return group.is_ready(); }
  Vote sub_group_pipelined(const SubGroup& group) const override {
    return group.is_pipelined() ? Vote::Permit : Vote::Reject;
  }

  bool job_starving(const JobInfo& job) const override { return job.is_starving(); }
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return surplus(session, candidates);
  }
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return surplus(session, candidates);
  }

  void close(Session& session) override {
    for (JobId id = 0; id < session.job_count(); ++id) {
      const JobInfo& job = session.job(id);
      if (!job.group || session.parked(id)) continue;
      const bool refused = session.note(id).refused_admission;
      if (job.tasks.empty() && !refused) continue;
      if (refused || !ready(job) || !all_placed(job)) {
        if (refused || !ending(job))
          session.set_condition(id, unschedulable_condition(session, id));
      } else {
        session.set_condition(id, {"Scheduled", "True", session.id(), session.now(),
                                   "tasks in gang are ready to be scheduled", ""});
      }
    }
  }

  void measure(const Session& session, SessionFigures& out) const override {
    out.counts_gangs = true;
    for (JobId id = 0; id < session.job_count(); ++id) {
      const JobInfo& job = session.job(id);
      if (!job.group || session.parked(id) || job.tasks.empty()) continue;
      const bool stands = ready(job) && all_placed(job);
      if (!stands && ending(job)) continue;
      // Those that would have had a place with the others of the gang do not lack one.
      const auto placed = job.ready_tasks() + job.waiting_tasks() +
                          static_cast<std::int64_t>(session.note(id).tentative.size());
      out.gangs.push_back(
          {id, stands, stands ? 0 : std::max<std::int64_t>(job.min_member - placed, 0)});
    }
  }

 private:
  // Those whom their gangs can do without, one after the other.
  static TaskRefs surplus(const Session& session, const TaskRefs& candidates) {
    const bool whole = session.behaviors().whole_gang_eviction;
    std::map<JobId, Leeway> jobs;
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      const auto place = jobs.try_emplace(one.job, session.job(one.job), whole).first;
      if (place->second.spend(session.task(one))) out.push_back(one);
    }
    return out;
  }

  static bool ready(const JobInfo& job) {
    // Counting by role takes a look at every task, which is asked after each that is placed.
    return job.is_ready() && roles_have(job, counts_as_ready) && job.sub_groups_ready();
  }

  // What requests nothing counts as ready before it has a node, so that it does not hold up the
  // others of its gang; nobody is told so before it has.
  static bool all_placed(const JobInfo& job) {
    return job.ready_tasks() >= job.min_member && roles_have(job, counts_as_placed);
  }
};

}  // namespace

Result<PluginFactory> configure_gang(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Gang>(), enabled);
  });
}

}  // namespace krater::scheduler
