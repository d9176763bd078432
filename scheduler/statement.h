// A transaction on a session: placements that hold together. Committed they become binds; otherwise
// all of them are undone, newest first, at the latest by the destructor.
#pragma once

#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

class Statement {
 public:
  explicit Statement(Session& session) : session_(session) {}
  ~Statement() { discard(); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The task takes room that is free now.
  void allocate(TaskRef task, NodeSlot node) { place(task, TaskStatus::Allocated, node); }
  // The task is promised room that others are leaving. Nothing is written for it.
  void pipeline(TaskRef task, NodeSlot node) { place(task, TaskStatus::Pipelined, node); }
  bool empty() const { return placed_.empty(); }

  // What was allocated, here and before for the same job, is bound after the session.
  void commit(JobId job);
  // The placements stay for the rest of the session, so that later jobs do not take the room, and
  // end with it.
  void keep() { placed_.clear(); }
  // Undoes everything; where tasks could have gone is remembered for the user.
  void discard();

 private:
  void place(TaskRef task, TaskStatus status, NodeSlot node);

  Session& session_;
  std::vector<TaskRef> placed_;
};

}  // namespace krater::scheduler
