#include "scheduler/statement.h"

#include <algorithm>

#include "base/check.h"

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

TaskRefs Statement::victims() const {
  TaskRefs out;
  for (const Step& step : steps_) {
    if (step.before != TaskStatus::Pending) out.push_back(step.task);
  }
  return out;
}

TaskRefs Statement::placed() const {
  TaskRefs out;
  for (const Step& step : steps_) {
    if (step.before == TaskStatus::Pending) out.push_back(step.task);
  }
  return out;
}

PluginPlaces Statement::spare(TaskRef victim) {
  const auto step = std::find_if(steps_.begin(), steps_.end(), [&](const Step& one) {
    return one.task == victim && one.before != TaskStatus::Pending;
  });
  CHECK(step != steps_.end());
  undo(*step);
  PluginPlaces out = std::move(step->offered_by);
  steps_.erase(step);
  return out;
}

bool Statement::holds(TaskRef placed, const std::function<bool(NodeSlot)>& fits) {
  const TaskStatus status = session_.task(placed).status;
  const NodeSlot node = session_.task(placed).node;
  session_.unplace(placed);
  const bool out = fits(node);
  session_.place(placed, status, node);
  return out;
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
