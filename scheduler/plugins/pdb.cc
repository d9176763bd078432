// pdb: nobody is evicted beyond what a PodDisruptionBudget allows (volcano.md 4.12). What this
// session has evicted already counts. Pods without labels are nobody's business and may go; unless
// it is to be as in Volcano, where they never go, and shuffle takes everybody whose budget allows
// it (behavior pdbOnlyProtects).
#include <map>

#include "model/disruption_budget.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

struct Budget {
  explicit Budget(const ObjectPtr& object) : view(object) {
    left = view.disruptions_allowed();
    for (const auto& [pod, since] : view.disrupted()) granted.insert(pod);
  }
  bool covers(const TaskSpec& task) const {
    return view->name_space() == task.name_space() && view.covers(task.pod->labels()) &&
           !granted.contains(task.name());
  }

  DisruptionBudgetView view;
  std::int64_t left = 0;
  std::set<std::string> granted{};  // evicted by the API already: counted there
};

class DisruptionBudgets final : public Plugin,
                                public PreemptableHook,
                                public ReclaimableHook,
                                public GangEvictableHook,
                                public VictimTasksHook,
                                public KeeperHook {
 public:
  std::string_view keeps_as() const override { return "are covered by a disruption budget"; }
  void open(const Session& session) override {
    only_protects_ = session.behaviors().pdb_only_protects;
    for (const auto& [place, object] : session.surroundings().budgets)
      budgets_.emplace_back(object);
  }

  std::optional<TaskRefs> preemptable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return allowed(session, candidates);
  }
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return allowed(session, candidates);
  }
  TaskRefs gang_evictable(const Session& session, TaskRef, const TaskRefs& candidates,
                          bool) const override {
    return allowed(session, candidates);
  }

  bool due(const Session&) const override { return !only_protects_; }
  TaskRefs victim_tasks(const Session& session) override {
    TaskRefs running;
    for (JobId id = 0; id < session.job_count(); ++id) {
      const std::vector<Task>& tasks = session.job(id).tasks;
      for (std::uint32_t t = 0; t < tasks.size(); ++t) {
        if (tasks[t].status == TaskStatus::Running) running.push_back({id, t});
      }
    }
    return allowed(session, running);
  }

  void unplaced(const Session& session, JobId, const TaskSpec& task) override { move(task, -1); }
  void placed(const Session& session, JobId, const TaskSpec& task) override { move(task, 1); }

 private:
  TaskRefs allowed(const Session& session, const TaskRefs& candidates) const {
    if (budgets_.empty() && only_protects_) return candidates;
    std::vector<std::int64_t> left;
    for (const Budget& budget : budgets_) left.push_back(budget.left);
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      const TaskSpec& task = *session.task(one).spec;
      if (!only_protects_ && task.pod->labels().empty()) continue;
      if (take(task, left)) out.push_back(one);
    }
    return out;
  }

  // False, and nothing taken, when one of its budgets is used up.
  bool take(const TaskSpec& task, std::vector<std::int64_t>& left) const {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < budgets_.size(); ++i) {
      if (!budgets_[i].covers(task)) continue;
      if (left[i] <= 0) return false;
      mine.push_back(i);
    }
    for (const std::size_t i : mine) --left[i];
    return true;
  }

  // Who had a node before the session and leaves it is evicted; anybody else was only tried out.
  void move(const TaskSpec& task, std::int64_t sign) {
    for (Budget& budget : budgets_) {
      if (budget.covers(task) && !PodView(task.pod).node_name().empty()) budget.left += sign;
    }
  }

  std::vector<Budget> budgets_;
  bool only_protects_ = true;
};

}  // namespace

Result<PluginFactory> configure_pdb(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<DisruptionBudgets>(), enabled);
  });
}

}  // namespace krater::scheduler
