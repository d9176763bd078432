// pdb: nobody is evicted beyond what a PodDisruptionBudget allows (volcano.md 4.12). What this
// session has evicted already counts, and who is leaving without the budget's knowledge. Pods
// without labels are nobody's business and may go; unless it is to be as in Volcano, where they
// never go, shuffle takes everybody whose budget allows it, and what the budget says is all that
// counts (behavior pdbOnlyProtects).
#include <map>

#include "model/disruption_budget.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

// One version of an object, read once.
struct Budget {
  explicit Budget(ObjectPtr from) : object(std::move(from)) {
    const DisruptionBudgetView view(object);
    selector = view.selector();
    allowed = view.disruptions_allowed();
    for (const auto& [pod, since] : view.disrupted()) granted.insert(pod);
  }
  bool covers(const TaskSpec& task) const {
    return object->name_space() == task.name_space() && selector &&
           selector->matches(task.pod->labels()) && !granted.contains(task.name());
  }
  // It was written before the pod was to leave. One that changes once more on its way out counts
  // again until the budget is written: rather one too few.
  bool older_than_end_of(const TaskSpec& task) const {
    return !task.pod->deletion() || task.pod->revision() > object->revision();
  }

  ObjectPtr object;
  std::optional<LabelSelector> selector{};
  std::int64_t allowed = 0;
  std::set<std::string> granted{};  // evicted by the API already: counted there
};
// Outlives sessions.
using BudgetMemory = std::map<Surroundings::Place, std::shared_ptr<const Budget>>;

class DisruptionBudgets final : public Plugin,
                                public PreemptableHook,
                                public ReclaimableHook,
                                public GangEvictableHook,
                                public VictimTasksHook,
                                public KeeperHook {
 public:
  explicit DisruptionBudgets(BudgetMemory& memory) : memory_(memory) {}

  std::string_view keeps_as() const override { return "are covered by a disruption budget"; }
  void open(const Session& session) override {
    only_protects_ = session.behaviors().pdb_only_protects;
    const auto& stored = session.surroundings().budgets;
    std::erase_if(memory_, [&](const auto& known) { return !stored.contains(known.first); });
    for (const auto& [place, object] : stored) {
      std::shared_ptr<const Budget>& known = memory_[place];
      if (known == nullptr || known->object != object)
        known = std::make_shared<const Budget>(object);
      budgets_.push_back({known, known->allowed});
    }
    joined(session, 0);
  }
  void joined(const Session& session, JobId first) override {
    if (budgets_.empty() || !only_protects_) return;
    for (JobId id = first; id < session.job_count(); ++id) {
      if (session.job(id).count(TaskStatus::Releasing) == 0) continue;
      for (const Task& task : session.job(id).tasks) {
        if (task.status == TaskStatus::Releasing) count_leaving(*task.spec);
      }
    }
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
  struct Account {
    std::shared_ptr<const Budget> budget;
    std::int64_t left = 0;
  };

  TaskRefs allowed(const Session& session, const TaskRefs& candidates) const {
    if (budgets_.empty() && only_protects_) return candidates;
    std::vector<std::int64_t> left;
    for (const Account& one : budgets_) left.push_back(one.left);
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
      if (!budgets_[i].budget->covers(task)) continue;
      if (left[i] <= 0) return false;
      mine.push_back(i);
    }
    for (const std::size_t i : mine) --left[i];
    return true;
  }

  // Who had a node before the session and leaves it is evicted; anybody else was only tried out.
  void move(const TaskSpec& task, std::int64_t sign) {
    for (Account& one : budgets_) {
      if (one.budget->covers(task) && !PodView(task.pod).node_name().empty()) one.left += sign;
    }
  }

  void count_leaving(const TaskSpec& task) {
    for (Account& one : budgets_) {
      if (one.budget->covers(task) && one.budget->older_than_end_of(task)) --one.left;
    }
  }

  BudgetMemory& memory_;
  std::vector<Account> budgets_;
  bool only_protects_ = true;
};

}  // namespace

Result<PluginFactory> configure_pdb(Arguments& arguments, const EnableFlags& flags) {
  const auto memory = std::make_shared<BudgetMemory>();
  return PluginFactory([memory](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<DisruptionBudgets>(*memory), enabled);
  });
}

}  // namespace krater::scheduler
