// One scheduling cycle's world: a snapshot, the plugins of the configuration, and the session's own
// changes, which nobody outside sees until the outcome is taken. Single-threaded, on the
// scheduler's loop; reads no clock.
//
// Always holds: placements change through a Statement only; what is neither committed nor kept has
// been undone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/config.h"
#include "scheduler/node_board.h"
#include "scheduler/snapshot.h"

namespace krater::scheduler {

struct TaskRef {
  JobId job = 0;
  std::uint32_t task = 0;
};

// What a session found out about a job.
struct JobNote {
  std::optional<Refusal> refusal{};  // admission, validity or queue: the job as a whole
  std::map<std::uint32_t, FitErrorPtr> fit_errors{};  // by task: no node takes it
  std::map<std::uint32_t, Refusal> queue_errors{};  // by task: its queue's limit does not allow it
  std::map<std::uint32_t, NodeSlot>
      tentative{};                 // by task: where it could have gone, had the gang been complete
  bool refused_admission = false;  // this session's enqueue said no
};

class Session {
 public:
  // `parked`: jobs that are left alone, because nothing has changed that could help them. `id` is
  // the transition id that conditions carry.
  Session(Snapshot snapshot, const Config& config, std::string id, WallTime now,
          const std::function<bool(const JobInfo&)>& parked = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Tells the plugins that the actions are through.
  void close();

  const Config& config() const { return config_; }
  const PluginSet& plugins() const { return plugins_; }
  const ResourceNames& names() const { return world_.names; }
  const Resource& total() const { return world_.total; }
  // On all nodes, and promised to admitted jobs, when the session began.
  const Resource& used() const { return world_.used; }
  const Resource& admitted() const { return world_.admitted; }
  std::uint64_t help() const { return world_.help; }
  const std::string& id() const { return id_; }
  WallTime now() const { return now_; }

  JobId job_count() const { return static_cast<JobId>(world_.jobs.size()); }
  const JobInfo& job(JobId id) const { return *world_.jobs[id]; }
  QueueId queue_of(JobId id) const { return queue_of_[id]; }  // kNoQueue: there is no such queue
  bool parked(JobId id) const { return parked_[id]; }
  JobNote& note(JobId id) { return notes_[id]; }
  const JobNote& note(JobId id) const;
  const Task& task(TaskRef ref) const { return job(ref.job).tasks[ref.task]; }
  QueueId queue_count() const { return static_cast<QueueId>(world_.queues.size()); }
  const QueueInfo& queue(QueueId id) const { return *world_.queues[id]; }
  // Of all jobs in it, those that are not in the session included, when the session began.
  const QueueSums& sums(QueueId id) const { return world_.sums[id]; }

  std::size_t node_slots() const { return world_.nodes.size(); }
  const NodeInfo& node(NodeSlot slot) const { return *world_.nodes[slot]; }
  bool has_node(NodeSlot slot) const {
    return slot < world_.nodes.size() && world_.nodes[slot] != nullptr;
  }
  NodeSlot find_node(const NodeName& name) const;
  const std::vector<NodeSlot>& node_order() const { return world_.order; }
  std::uint32_t node_rank(NodeSlot slot) const { return world_.rank[slot]; }
  // Every placement and undo appends its node.
  const std::vector<NodeSlot>& node_changes() const { return node_changes_; }
  NodeBoard& board(const ShapePtr& shape);

  // The plugins' combined word (volcano.md 2.9).
  bool job_before(JobId a, JobId b) const;
  bool queue_before(QueueId a, QueueId b) const;
  bool task_before(const TaskSpec& a, const TaskSpec& b) const;
  std::optional<Refusal> job_invalid(JobId id) const;
  bool job_ready(JobId id) const;
  bool job_pipelined(JobId id) const;
  bool may_enqueue(JobId id, Refusal& why) const;
  bool allocatable(QueueId queue, const TaskSpec& task, Refusal& why) const;
  bool overused(QueueId queue, Refusal& why) const;

  // Phase Inqueue from now on; the plugins take note.
  void admit(JobId id);
  // Every Allocated task of the job is to be bound.
  void dispatch(JobId id);
  // For gang's verdict at close.
  void set_condition(JobId id, PodGroupCondition condition) {
    conditions_[id] = std::move(condition);
  }
  const PodGroupCondition* condition(JobId id) const;
  // The tasks this session decided to bind, by job.
  std::map<JobId, std::vector<std::uint32_t>> bound_tasks() const;

 private:
  friend class Statement;
  JobInfo& edit_job(JobId id);
  void place(TaskRef ref, TaskStatus status, NodeSlot slot);
  void unplace(TaskRef ref);

  Snapshot world_;
  const Config& config_;
  std::string id_;
  WallTime now_;
  PluginSet plugins_;
  std::vector<QueueId> queue_of_;
  std::vector<bool> parked_;
  std::map<JobId, JobNote> notes_;
  std::map<JobId, PodGroupCondition> conditions_;
  std::map<JobId, std::vector<std::uint32_t>> bound_;
  std::vector<NodeSlot> node_changes_;
  std::unordered_map<const PodShape*, std::unique_ptr<NodeBoard>>
      boards_;  // looked up, never walked
};

}  // namespace krater::scheduler
