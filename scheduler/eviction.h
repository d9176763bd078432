// Making room by evicting: for one task, on the node where it costs least. What preempt and reclaim
// have in common; they differ in who comes into question and what the plugins are asked.
//
// Always holds: a job whose gang would be broken goes whole or keeps all its tasks; nobody is
// evicted who could stay; unless the configuration wants it as in Volcano (scheduler/behaviors.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "scheduler/protection.h"
#include "scheduler/statement.h"

namespace krater::scheduler {

// The gang has its minimum, every role its own, every policy its sub-groups.
bool gang_stands(const JobInfo& job);

// The group does not say that none of its pods may be evicted (annotation or label
// volcano.sh/preemptable).
bool lets_go(const JobInfo& job);

struct EvictionRules {
  Asking asking = Asking::Preempting;
  // Whether `one`, Bound or Running, comes into question at all.
  std::function<bool(TaskRef claimant, TaskRef one)> candidate;
  // What the plugins leave of the candidates.
  std::function<TaskRefs(TaskRef claimant, const TaskRefs& candidates)> allowed;
  // Of a gang that falls, those that would only go along: whether they, too, have to be allowed.
  // Where they need not (reclaim), they must at least come into question, not be guarded, and be
  // let go by those who keep pods for their own sake.
  bool companions_allowed = true;
};

class EvictionPlanner {
 public:
  EvictionPlanner(Session& session, EvictionRules rules);

  // Places the task (Pipelined) where there will be room, evicting where that must be. False when
  // there is no way; then nothing was changed. What will be free without evicting is taken first.
  bool make_room(Statement& statement, TaskRef task);

  // Those who come into question, by themselves or not, on nodes that the task may go to: what it
  // could use, if they left.
  TaskRefs in_the_way(TaskRef task);

  // A job like this one was tried in vain: what was said then; null: none was. Or so many were that
  // the rest has to wait for the next session.
  const std::string* hopeless(JobId job) const;
  bool exhausted() const { return scans_ >= kScans; }
  // `denied`: the task for which nobody could be made to leave, if it was that; `words`: what is
  // to be said beside.
  void give_up(JobId job, std::optional<TaskRef> denied, std::string words = {});

 private:
  static constexpr int kScans = 256;  // searches through all nodes, a session
  // Smaller is better: the highest priority that has to go (of jobs, then of tasks), gangs broken,
  // tasks, running ones among them.
  using Cost = std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t, std::size_t>;
  struct Plan {
    NodeSlot node = kNoNode;
    Cost cost{};
    TaskRefs victims{};
  };
  // One attempt on one node.
  struct Attempt {
    NodeSlot node = kNoNode;
    bool break_gangs = false;
    TaskRefs victims{};
    std::set<JobId> broken{};
    bool spared_gangs = false;  // somebody was left alone for the sake of his gang
    bool enough = false;        // the task fits once these have left
  };
  // Jobs whose tasks want the same, and may take it from the same, in the same queue with the same
  // priority are alike; one with sub-groups is like no other.
  using Likeness =
      std::tuple<QueueId, std::int64_t, std::int64_t, std::int64_t,
                 std::map<std::tuple<const NodeBoard*, bool, std::int64_t>, std::int64_t>,
                 const SubGroupPolicies*>;
  Likeness likeness(JobId job) const;

  void count_attempt() {
    if (rules_.asking == Asking::Preempting) session_.count_preemption_attempt();
  }
  bool fits(TaskRef task, NodeSlot node);
  bool may_leave(JobId job) const;
  bool checks_placement() const;
  bool take_free_room(Statement& statement, TaskRef task);
  bool make_room_on_first(Statement& statement, TaskRef task);
  TaskRefs candidates(TaskRef task, NodeSlot node) const;
  void put_in_order(TaskRef task, TaskRefs& ones) const;
  void carry_out(Statement& statement, TaskRef task, const Plan& plan) const;
  bool could_be_enough(TaskRef task, NodeSlot node, const TaskRefs& victims) const;
  bool study(Statement& statement, TaskRef task, NodeSlot node, Plan& best);
  Attempt try_order(Statement& statement, TaskRef task, const TaskRefs& ordered, Attempt one,
                    Plan& best);
  std::vector<TaskRefs> other_gangs_first(const TaskRefs& ordered, const Attempt& broke) const;
  bool attempt(Statement& statement, TaskRef task, const TaskRefs& ordered, Attempt& out);
  bool evict(Statement& statement, TaskRef task, TaskRef victim, Attempt& out);
  bool gang_may_fall(TaskRef task, JobId job) const;
  void look_again_when_late(JobId claimant, const JobInfo& spared);
  void spare(Statement& statement, TaskRef task, Attempt& out);
  Cost cost_of(const Attempt& attempt) const;
  bool better(TaskRef task, const Plan& a, const Plan& b);
  TaskRefs members(JobId job) const;

  Session& session_;
  EvictionRules rules_;
  std::map<Likeness, std::string> given_up_;
  mutable std::map<JobId, bool> may_leave_;
  int scans_ = 0;
};

}  // namespace krater::scheduler
