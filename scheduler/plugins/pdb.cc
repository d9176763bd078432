// pdb: nobody is evicted beyond what a PodDisruptionBudget allows (volcano.md 4.12). What this
// session has evicted already counts. Pods without labels are nobody's business and may go.
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
                                public KeeperHook {
 public:
  std::string_view keeps_as() const override { return "are covered by a disruption budget"; }
  void open(const Session& session) override {
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

  void unplaced(const Session& session, JobId, const TaskSpec& task) override { move(task, -1); }
  void placed(const Session& session, JobId, const TaskSpec& task) override { move(task, 1); }

 private:
  TaskRefs allowed(const Session& session, const TaskRefs& candidates) const {
    if (budgets_.empty()) return candidates;
    std::vector<std::int64_t> left;
    for (const Budget& budget : budgets_) left.push_back(budget.left);
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      if (take(*session.task(one).spec, left)) out.push_back(one);
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
};

}  // namespace

Result<PluginFactory> configure_pdb(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<DisruptionBudgets>(), enabled);
  });
}

}  // namespace krater::scheduler
