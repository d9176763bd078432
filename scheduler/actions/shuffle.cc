#include "scheduler/actions/shuffle.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/statement.h"

namespace krater::scheduler {
namespace {

// All that the first tier names which names anybody.
std::set<TaskRef> named(Session& session) {
  for (const auto& tier : session.plugins().victim_tasks.tiers) {
    std::set<TaskRef> out;
    for (VictimTasksHook* hook : tier) {
      if (!hook->due(session)) continue;
      session.load_all();
      for (const TaskRef& one : hook->victim_tasks(session)) out.insert(one);
    }
    if (!out.empty()) return out;
  }
  return {};
}

}  // namespace

void shuffle(Session& session) {
  std::map<JobId, TaskRefs> by_job;
  for (const TaskRef& one : named(session)) by_job[one.job].push_back(one);
  for (const auto& [job, tasks] : by_job) {
    Statement statement(session);
    for (const TaskRef& one : tasks) {
      const Task& task = session.task(one);
      if (task.status == TaskStatus::Running && task.spec->preemptable &&
          !session.guarded(*task.spec)) {
        statement.evict(one);
      }
    }
    if (statement.evicts()) statement.commit_evictions(job, "shuffle");
  }
}

}  // namespace krater::scheduler
