// priority: tasks and jobs of higher priority go first, and within a queue they may take the places
// of lower ones (volcano.md 4.2).
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

int higher_first(std::int64_t a, std::int64_t b) {
  return a > b ? -1 : a < b ? 1 : 0;
}

class Priority final : public Plugin,
                       public JobOrderHook,
                       public TaskOrderHook,
                       public SubGroupOrderHook,
                       public JobStarvingHook,
                       public PreemptableHook {
 public:
  int job_order(const Session& session, JobId a, JobId b) const override {
    return higher_first(session.job(a).priority, session.job(b).priority);
  }
  int task_order(const TaskSpec& a, const TaskSpec& b) const override {
    return higher_first(a.priority, b.priority);
  }
  int sub_group_order(const SubGroupTurn& a, const SubGroupTurn& b) const override {
    return higher_first(a.priority, b.priority);
  }
  bool job_starving(const JobInfo& job) const override {
    return job.ready_tasks() + job.waiting_tasks() < static_cast<std::int64_t>(job.tasks.size());
  }
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      const bool lower =
          one.job == claimant.job
              ? session.task(one).spec->priority < session.task(claimant).spec->priority
              : session.job(one.job).priority < session.job(claimant.job).priority;
      if (lower) out.push_back(one);
    }
    return out;
  }
};

}  // namespace

Result<PluginFactory> configure_priority(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Priority>(), enabled);
  });
}

}  // namespace krater::scheduler
