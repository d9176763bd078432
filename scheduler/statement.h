// A transaction on a session: placements and evictions that hold together. Committed they become
// binds and deletions; otherwise all of them are undone, newest first, at the latest by the
// destructor.
#pragma once

#include <functional>
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
  // The task leaves, and with it its claim on its node and queue; the plugins gave it up.
  void evict(TaskRef task, PluginPlaces offered_by = {});
  bool empty() const { return steps_.empty(); }
  bool evicts() const;
  TaskRefs victims() const;
  TaskRefs placed() const;
  // One of the victims stays after all; who had given it up.
  PluginPlaces spare(TaskRef victim);
  // Whether its place still fits one that was placed here, seen without it.
  bool holds(TaskRef placed, const std::function<bool(NodeSlot)>& fits);

  // What was allocated, here and before for the same job, is bound after the session.
  void commit(JobId job);
  // The tasks evicted here are deleted after the session; those placed here wait for their room.
  // `action` lives as long as the program.
  void commit_evictions(JobId claimant, std::string_view action);
  // The placements stay for the rest of the session, so that later jobs do not take the room, and
  // end with it.
  void keep() { steps_.clear(); }
  // Undoes everything; where tasks could have gone is remembered for the user.
  void discard();

  // What was done since mark(), undone without a trace.
  using Mark = std::size_t;
  Mark mark() const { return steps_.size(); }
  void roll_back(Mark mark);

 private:
  struct Step {
    TaskRef task;
    TaskStatus before = TaskStatus::Pending;  // Pending: it was placed, otherwise evicted
    PluginPlaces offered_by{};
  };
  void place(TaskRef task, TaskStatus status, NodeSlot node);
  void undo(const Step& step);

  Session& session_;
  std::vector<Step> steps_;
};

}  // namespace krater::scheduler
