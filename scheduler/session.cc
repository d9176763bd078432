#include "scheduler/session.h"

#include <algorithm>

#include "base/check.h"

namespace krater::scheduler {
namespace {

template <typename T>
T& clone_if_shared(std::shared_ptr<const T>& shared) {
  if (shared.use_count() > 1) shared = std::make_shared<T>(*shared);
  return const_cast<T&>(*shared);  // made by us, as a T
}

// The first comparison that is not equal.
template <typename Hook, typename Compare>
int first_decisive(const Tiered<Hook>& hooks, Compare compare) {
  for (const auto& tier : hooks.tiers) {
    for (const Hook* hook : tier) {
      if (const int order = compare(*hook); order != 0) return order;
    }
  }
  return 0;
}

// A reject decides at once; otherwise the first tier in which anyone permits decides; nobody: yes.
template <typename Hook, typename Ask>
bool carried(const Tiered<Hook>& hooks, Ask ask) {
  for (const auto& tier : hooks.tiers) {
    bool permitted = false;
    for (const Hook* hook : tier) {
      const Vote vote = ask(*hook);
      if (vote == Vote::Reject) return false;
      permitted = permitted || vote == Vote::Permit;
    }
    if (permitted) return true;
  }
  return true;
}

template <typename Hook, typename Holds>
bool all_of(const Tiered<Hook>& hooks, Holds holds) {
  for (const auto& tier : hooks.tiers) {
    for (const Hook* hook : tier) {
      if (!holds(*hook)) return false;
    }
  }
  return true;
}

}  // namespace

Session::Session(Snapshot snapshot, const Config& config, std::string id, WallTime now,
                 const std::function<bool(const JobInfo&)>& parked)
    : world_(std::move(snapshot)), config_(config), id_(std::move(id)), now_(now) {
  std::map<QueueName, QueueId> queues;
  for (QueueId q = 0; q < queue_count(); ++q) queues.emplace(queue(q).name, q);
  queue_of_.resize(job_count(), kNoQueue);
  parked_.resize(job_count(), false);
  for (JobId id_of_job = 0; id_of_job < job_count(); ++id_of_job) {
    const JobInfo& info = job(id_of_job);
    const auto place = queues.find(info.queue);
    if (place != queues.end()) queue_of_[id_of_job] = place->second;
    if (parked) parked_[id_of_job] = parked(info);
  }
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    plugins_.start_tier();
    for (const PluginChoice& choice : tier) choice.make(plugins_, choice.flags);
  }
  for (const auto& plugin : plugins_.plugins) plugin->open(*this);
}

void Session::close() {
  for (const auto& plugin : plugins_.plugins) plugin->close(*this);
}

const JobNote& Session::note(JobId id) const {
  static const JobNote nothing;
  const auto place = notes_.find(id);
  return place == notes_.end() ? nothing : place->second;
}

NodeSlot Session::find_node(const NodeName& name) const {
  const auto place = std::lower_bound(
      world_.order.begin(), world_.order.end(), name.text(),
      [this](NodeSlot slot, const std::string& wanted) { return node(slot).name < wanted; });
  return place != world_.order.end() && node(*place).name == name.text() ? *place : kNoNode;
}

NodeBoard& Session::board(const ShapePtr& shape) {
  std::unique_ptr<NodeBoard>& board = boards_[shape.get()];
  if (board == nullptr) board = std::make_unique<NodeBoard>(*this, shape);
  return *board;
}

bool Session::job_before(JobId a, JobId b) const {
  const int order = first_decisive(
      plugins_.job_order, [&](const JobOrderHook& hook) { return hook.job_order(*this, a, b); });
  if (order != 0) return order < 0;
  if (job(a).created != job(b).created) return job(a).created < job(b).created;
  return a < b;  // jobs are in the order of their keys
}

bool Session::queue_before(QueueId a, QueueId b) const {
  const int order = first_decisive(plugins_.queue_order, [&](const QueueOrderHook& hook) {
    return hook.queue_order(*this, a, b);
  });
  if (order != 0) return order < 0;
  if (queue(a).created != queue(b).created) return queue(a).created < queue(b).created;
  return a < b;
}

bool Session::task_before(const TaskSpec& a, const TaskSpec& b) const {
  const int order = first_decisive(
      plugins_.task_order, [&](const TaskOrderHook& hook) { return hook.task_order(a, b); });
  return order != 0 ? order < 0 : created_before(a, b);
}

std::optional<Refusal> Session::job_invalid(JobId id) const {
  for (const auto& tier : plugins_.job_valid.tiers) {
    for (const JobValidHook* hook : tier) {
      if (auto refusal = hook->job_valid(job(id))) return refusal;
    }
  }
  return std::nullopt;
}

bool Session::job_ready(JobId id) const {
  return all_of(plugins_.job_ready,
                [&](const JobReadyHook& hook) { return hook.job_ready(job(id)); });
}

bool Session::job_pipelined(JobId id) const {
  return carried(plugins_.job_pipelined,
                 [&](const JobPipelinedHook& hook) { return hook.job_pipelined(job(id)); });
}

bool Session::may_enqueue(JobId id, Refusal& why) const {
  return carried(plugins_.enqueue,
                 [&](const EnqueueHook& hook) { return hook.may_enqueue(*this, id, why); });
}

bool Session::allocatable(QueueId queue_id, const TaskSpec& task, Refusal& why) const {
  return all_of(plugins_.allocatable, [&](const AllocatableHook& hook) {
    return hook.allocatable(*this, queue_id, task, why);
  });
}

bool Session::overused(QueueId queue_id, Refusal& why) const {
  return !all_of(plugins_.overused,
                 [&](const OverusedHook& hook) { return !hook.overused(*this, queue_id, why); });
}

JobInfo& Session::edit_job(JobId id) {
  return clone_if_shared(world_.jobs[id]);
}

void Session::admit(JobId id) {
  edit_job(id).phase = PodGroupPhase::Inqueue;
  for (const auto& tier : plugins_.enqueue.tiers) {
    for (EnqueueHook* hook : tier) hook->enqueued(*this, id);
  }
}

void Session::place(TaskRef ref, TaskStatus status, NodeSlot slot) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  CHECK(task.status == TaskStatus::Pending);
  info.set_status(task, status, slot);
  clone_if_shared(world_.nodes[slot]).book(*task.spec->shape, status, 1);
  node_changes_.push_back(slot);
  for (const auto& plugin : plugins_.plugins) plugin->placed(*this, ref.job, *task.spec);
}

void Session::unplace(TaskRef ref) {
  JobInfo& info = edit_job(ref.job);
  Task& task = info.tasks[ref.task];
  const NodeSlot slot = task.node;
  CHECK(task.status == TaskStatus::Allocated || task.status == TaskStatus::Pipelined);
  clone_if_shared(world_.nodes[slot]).book(*task.spec->shape, task.status, -1);
  info.set_status(task, TaskStatus::Pending, kNoNode);
  node_changes_.push_back(slot);
  for (const auto& plugin : plugins_.plugins) plugin->unplaced(*this, ref.job, *task.spec);
}

void Session::dispatch(JobId id) {
  JobInfo& info = edit_job(id);
  std::vector<std::uint32_t>& bound = bound_[id];
  for (std::uint32_t t = 0; t < info.tasks.size(); ++t) {
    if (info.tasks[t].status != TaskStatus::Allocated) continue;
    info.set_status(info.tasks[t], TaskStatus::Binding, info.tasks[t].node);
    bound.push_back(t);
  }
}

const PodGroupCondition* Session::condition(JobId id) const {
  const auto place = conditions_.find(id);
  return place == conditions_.end() ? nullptr : &place->second;
}

std::map<JobId, std::vector<std::uint32_t>> Session::bound_tasks() const {
  std::map<JobId, std::vector<std::uint32_t>> out;
  for (const auto& [id, tasks] : bound_) {
    // A gang that counted on best-effort members which then found no place does not start in part.
    if (tasks.empty() || job(id).ready_tasks() < job(id).min_member) continue;
    out.emplace(id, tasks);
  }
  return out;
}

}  // namespace krater::scheduler
