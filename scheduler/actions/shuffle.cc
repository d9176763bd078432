#include "scheduler/actions/shuffle.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/eviction.h"

namespace krater::scheduler {
namespace {

// Of one job, in the order they were named.
struct Named {
  TaskRefs tasks{};
  PluginPlaces named_by{};
  bool gang_may_go = false;
};

// All that the first tier names which names anybody.
std::map<JobId, Named> named(Session& session) {
  for (const auto& tier : session.plugins().victim_tasks.tiers) {
    std::map<JobId, Named> out;
    std::set<TaskRef> seen;
    for (VictimTasksHook* hook : tier) {
      if (!hook->due(session)) continue;
      session.load_all();
      const PluginPlaces who = place_of(session, *hook);
      for (const TaskRef& one : hook->victim_tasks(session)) {
        Named& of_job = out[one.job];
        if (seen.insert(one).second) of_job.tasks.push_back(one);
        of_job.named_by.insert(who.begin(), who.end());
        of_job.gang_may_go = of_job.gang_may_go || hook->gang_may_go(session.job(one.job));
      }
    }
    if (!out.empty()) return out;
  }
  return {};
}

bool may_leave(const Session& session, const Task& task) {
  return holds_place(task.status) && task.spec->preemptable && session.has_node(task.node) &&
         !session.guarded(*task.spec);
}

// Those that have a node; none if one of them cannot leave.
TaskRefs whole_gang(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  TaskRefs out;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    const Task& task = job.tasks[t];
    if (may_leave(session, task)) {
      out.push_back({id, t});
    } else if (is_allocated(task.status)) {
      return {};
    }
  }
  return out;
}

// Those without whom the gang stands, as many as that are; where there are others, all of it if
// that may be.
void evict(Session& session, Statement& statement, JobId id, const Named& named) {
  const bool stood = gang_stands(session.job(id));
  TaskRefs held;
  for (const TaskRef& one : named.tasks) {
    const Task& task = session.task(one);
    if (task.status != TaskStatus::Running || !may_leave(session, task)) continue;
    const Statement::Mark mark = statement.mark();
    statement.evict(one, named.named_by);
    if (!stood || !session.behaviors().whole_gang_eviction || gang_stands(session.job(id)))
      continue;
    statement.roll_back(mark);
    held.push_back(one);
  }
  if (held.empty()) return;
  // What is left of it.
  const TaskRefs gang = whole_gang(session, id);
  if (!named.gang_may_go && gang.size() != held.size()) return;
  for (const TaskRef& one : gang) statement.evict(one, named.named_by);
}

}  // namespace

void shuffle(Session& session) {
  for (const auto& [job, victims] : named(session)) {
    if (session.behaviors().groups_protect_pods && !lets_go(session.job(job))) continue;
    Statement statement(session);
    evict(session, statement, job, victims);
    if (statement.evicts()) statement.commit_evictions(job, "shuffle");
  }
}

}  // namespace krater::scheduler
