#include "scheduler/statement.h"

namespace krater::scheduler {

void Statement::place(TaskRef task, TaskStatus status, NodeSlot node) {
  session_.place(task, status, node);
  placed_.push_back(task);
}

void Statement::commit(JobId job) {
  session_.dispatch(job);
  placed_.clear();
}

void Statement::discard() {
  while (!placed_.empty()) {
    const TaskRef task = placed_.back();
    placed_.pop_back();
    session_.note(task.job).tentative[task.task] = session_.task(task).node;
    session_.unplace(task);
  }
}

}  // namespace krater::scheduler
