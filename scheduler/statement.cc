#include "scheduler/statement.h"

#include <algorithm>

namespace krater::scheduler {

void Statement::place(TaskRef task, TaskStatus status, NodeSlot node) {
  session_.place(task, status, node);
  steps_.push_back({task, TaskStatus::Pending, {}});
}

void Statement::evict(TaskRef task, PluginPlaces offered_by) {
  const TaskStatus before = session_.task(task).status;
  session_.evict(task);
  steps_.push_back({task, before, std::move(offered_by)});
}

bool Statement::evicts() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.before != TaskStatus::Pending; });
}

void Statement::commit(JobId job) {
  session_.dispatch(job);
  steps_.clear();
}

void Statement::commit_evictions(JobId claimant, std::string_view action) {
  Eviction out{claimant, action};
  for (const Step& step : steps_) {
    (step.before == TaskStatus::Pending ? out.nominated : out.victims).push_back(step.task);
    out.offered_by.insert(step.offered_by.begin(), step.offered_by.end());
  }
  session_.evictions_.push_back(std::move(out));
  steps_.clear();
}

void Statement::undo(const Step& step) {
  if (step.before == TaskStatus::Pending) {
    session_.unplace(step.task);
  } else {
    session_.unevict(step.task, step.before);
  }
}

void Statement::roll_back(Mark mark) {
  while (steps_.size() > mark) {
    const Step step = steps_.back();
    steps_.pop_back();
    undo(step);
  }
}

void Statement::discard() {
  while (!steps_.empty()) {
    const Step step = steps_.back();
    steps_.pop_back();
    if (step.before == TaskStatus::Pending)
      session_.note(step.task.job).tentative[step.task.task] = session_.task(step.task).node;
    undo(step);
  }
}

}  // namespace krater::scheduler
