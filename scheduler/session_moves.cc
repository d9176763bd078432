// How a session changes its picture: what is placed, evicted and undone, and what plugins hear of
// it.
#include "base/check.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

template <typename T>
T& clone_if_shared(std::shared_ptr<const T>& shared) {
  if (shared.use_count() > 1) shared = std::make_shared<T>(*shared);
  return const_cast<T&>(*shared);  // made by us, as a T
}

}  // namespace

JobInfo& Session::edit_job(JobId id) {
  return clone_if_shared(world_.jobs[id]);
}

void Session::admit(JobId id) {
  edit_job(id).phase = PodGroupPhase::Inqueue;
  for (const auto& tier : plugins_.enqueue.tiers) {
    for (EnqueueHook* hook : tier) hook->enqueued(*this, id);
  }
}

void Session::lift_gate(TaskRef ref) {
  lifted_gates_.push_back(ref);
  for (const auto& plugin : plugins_.plugins) plugin->gate_lifted(*this, ref.job, *task(ref).spec);
}

// The task holds something of its queue's from now on, or nothing any more.
void Session::moved(TaskRef ref, int sign) {
  const TaskSpec& spec = *task(ref).spec;
  guarantees_.move(queue_of(ref.job), spec.shape->request, sign);
  for (const auto& plugin : plugins_.plugins) {
    if (sign > 0) {
      plugin->placed(*this, ref.job, spec);
    } else {
      plugin->unplaced(*this, ref.job, spec);
    }
  }
}

void Session::place(TaskRef ref, TaskStatus status, NodeSlot slot) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  CHECK(task.status == TaskStatus::Pending);
  info.set_status(task, status, slot);
  clone_if_shared(world_.nodes[slot]).book(*task.spec->shape, status, 1);
  node_changes_.push_back(slot);
  pod_moves_.push_back({task.spec, slot, 1});
  moved(ref, 1);
}

void Session::unplace(TaskRef ref) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  const NodeSlot slot = task.node;
  CHECK(task.status == TaskStatus::Allocated || task.status == TaskStatus::Pipelined);
  clone_if_shared(world_.nodes[slot]).book(*task.spec->shape, task.status, -1);
  info.set_status(task, TaskStatus::Pending, kNoNode);
  node_changes_.push_back(slot);
  pod_moves_.push_back({task.spec, slot, -1});
  moved(ref, -1);
}

void Session::evict(TaskRef ref) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  CHECK(holds_place(task.status));
  NodeInfo& on = clone_if_shared(world_.nodes[task.node]);
  on.book(*task.spec->shape, task.status, -1);
  on.book(*task.spec->shape, TaskStatus::Releasing, 1);
  node_changes_.push_back(task.node);
  pod_moves_.push_back({task.spec, task.node, -1});
  info.set_status(task, TaskStatus::Releasing, task.node);
  moved(ref, -1);
}

void Session::unevict(TaskRef ref, TaskStatus before) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  CHECK(task.status == TaskStatus::Releasing);
  NodeInfo& on = clone_if_shared(world_.nodes[task.node]);
  on.book(*task.spec->shape, TaskStatus::Releasing, -1);
  on.book(*task.spec->shape, before, 1);
  node_changes_.push_back(task.node);
  pod_moves_.push_back({task.spec, task.node, 1});
  info.set_status(task, before, task.node);
  moved(ref, 1);
}

void Session::dispatch(JobId id) {
  JobInfo& info = edit_job(id);
  std::vector<std::uint32_t>& bound = bound_[id];
  for (std::uint32_t t = 0; t < info.tasks.size(); ++t) {
    if (info.tasks[t].status != TaskStatus::Allocated) continue;
    info.set_status(info.tasks[t], TaskStatus::Binding, info.tasks[t].node);
    bound.push_back(t);
  }
  bound_by_[id] = action_;
}

// Nothing of a gang is bound whose other members found no place.
void Session::take_back_incomplete() {
  for (auto& [id, tasks] : bound_) {
    if (tasks.empty() || job_placed(id)) continue;
    note(id).reach = job(id).ready_tasks();
    for (const std::uint32_t t : std::exchange(tasks, {})) {
      JobInfo& info = edit_job(id);
      info.set_status(info.tasks[t], TaskStatus::Allocated, info.tasks[t].node);
      note(id).tentative[t] = info.tasks[t].node;
      unplace({id, t});
    }
  }
}

}  // namespace krater::scheduler
