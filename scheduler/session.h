// One scheduling cycle's world: a snapshot, the plugins of the configuration, and the session's own
// changes, which nobody outside sees until the outcome is taken. Single-threaded, on the
// scheduler's loop; reads no clock.
//
// Always holds: placements change through a Statement only; what is neither committed nor kept has
// been undone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/config.h"
#include "scheduler/figures.h"
#include "scheduler/guarantees.h"
#include "scheduler/node_board.h"
#include "scheduler/snapshot.h"

namespace krater::scheduler {

// What a session found out about a job.
struct JobNote {
  std::optional<Refusal> refusal{};  // admission, validity or queue: the job as a whole
  std::map<std::uint32_t, FitErrorPtr> fit_errors{};  // by task: no node takes it
  std::map<std::uint32_t, Refusal> queue_errors{};  // by task: its queue's limit does not allow it
  std::map<std::uint32_t, NodeSlot>
      tentative{};                 // by task: where it could have gone, had the gang been complete
  bool refused_admission = false;  // this session's enqueue said no
  std::string no_eviction{};       // why nobody was made to leave for it
  // So many of its members would have a place at once, had its gang been smaller.
  std::int64_t reach = 0;
  std::optional<NearestNode> nearest{};  // of the one that is told of
  // One that no node could ever take: the one to be told of, whatever the others lack.
  std::optional<std::uint32_t> never{};
  // Of fit_errors, the one that is told of; not for empty ones.
  std::pair<std::uint32_t, FitErrorPtr> told() const {
    const auto place = never ? fit_errors.find(*never) : fit_errors.begin();
    return place == fit_errors.end() ? *fit_errors.begin() : *place;
  }
  bool put_off = false;             // there was no time for it in this session
  std::optional<WallTime> again{};  // from then on time alone may have helped it
};

// A pod came to a node (sign 1) or left it (-1) within a session.
struct PodMove {
  TaskSpecPtr task;
  NodeSlot node = kNoNode;
  int sign = 1;
};

// What was to come free on a node.
struct LateRoom {
  Resource held{};
  std::optional<WallTime> next{};
};

// Plugins, by their places in the configuration, counted through all tiers.
using PluginPlaces = std::set<std::size_t>;

// Tasks that have to leave, in favour of one job.
struct Eviction {
  JobId claimant = 0;
  std::string_view action;  // "preempt"
  TaskRefs victims{};
  TaskRefs nominated{};       // the claimant's tasks that were promised the room
  PluginPlaces offered_by{};  // who gave up the victims
};

class ExtenderCaller;

// Runs what the plugins of one entry of the configuration do at the beginning of a session, or at
// its end: for those who want to know how long it takes.
enum class PluginPart { Open, Close };
using AroundPlugin = std::function<void(std::string_view plugin, PluginPart part,
                                        const std::function<void()>& work)>;

class Session {
 public:
  // `parked`: jobs that are left alone, because nothing has changed that could help them. `id` is
  // the transition id that conditions carry.
  Session(Snapshot snapshot, const Config& config, std::string id, WallTime now,
          const std::function<bool(const JobInfo&)>& parked = {},
          ExtenderCaller* extender = nullptr, AroundPlugin around = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Tells the plugins that the actions are through.
  void close();
  // What the plugins' books say then.
  SessionFigures figures() const;

  const Config& config() const { return config_; }
  const Behaviors& behaviors() const { return config_.behaviors; }
  const PluginSet& plugins() const { return plugins_; }
  ExtenderCaller* extender() const { return extender_; }  // null: there is none to be asked
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
  // Of any job, in the session or not.
  QueueId queue_of(const JobKey& key) const;
  bool parked(JobId id) const { return parked_[id]; }
  JobNote& note(JobId id) { return notes_[id]; }
  // All that was tried and still waits may be better off at that time, though nothing else changes.
  void look_again(WallTime when);
  void look_again(JobId id, WallTime when);
  const JobNote& note(JobId id) const;
  const Task& task(TaskRef ref) const { return job(ref.job).tasks[ref.task]; }
  QueueId queue_count() const { return static_cast<QueueId>(world_.queues.size()); }
  const QueueInfo& queue(QueueId id) const { return *world_.queues[id]; }
  // Its first job that has to wait keeps the others waiting.
  bool fifo(QueueId id) const { return behaviors().strict_fifo && queue(id).fifo; }
  // What is kept for it: its guarantee, as far as it may hold that and the cluster has it.
  const Resource& guarantee(QueueId id) const { return guarantees_.kept(id); }
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
  // Tasks that may go to the same nodes and like them equally share a board.
  NodeBoard& board(TaskRef task);
  // The job may use the domain's nodes only, until told otherwise; null: any. The domain stays
  // where it is as long.
  void confine(JobId id, const Domain* domain);
  // DomainHook; of the first plugin that serves it.
  std::vector<std::vector<Domain>> domains_for(JobId id) const;
  std::vector<std::vector<Domain>> domains_for_sub_group(JobId id, std::uint32_t group) const;
  std::string domain_of(JobId id) const;
  bool confined(JobId id) const { return confined_.contains(id); }
  const Domain* confinement(JobId id) const {
    const auto place = confined_.find(id);
    return place == confined_.end() ? nullptr : place->second;
  }
  bool allowed_on(JobId id, NodeSlot slot) const {
    const auto place = confined_.find(id);
    return place == confined_.end() || place->second->nodes[slot];
  }
  const Surroundings& surroundings() const { return *world_.surroundings; }
  // Who was on a node when the session began, and what has moved since.
  const std::vector<PlacedPod>& placed_pods() const;
  // Somebody whom the scheduler took away is still leaving the node the task was promised.
  bool room_is_coming(const TaskSpec& task) const;
  // What pods on the node hold that should have left it by now (their grace period, and some time
  // more, is over); and when that will be true of the first of the others who are leaving.
  const LateRoom& late_room(NodeSlot slot) const;
  const std::vector<PodMove>& pod_moves() const { return pod_moves_; }
  const NamespaceLabels& namespaces() const { return *world_.namespaces; }
  const VolumeBook& volumes() const;
  // Null: nobody counts who has used how much.
  const FairshareBook* fairshare() const { return world_.fairshare; }
  // Whether anybody says anything of other pods; topology spread, of one's own kind, apart.
  bool anybody_speaks_of_pods() const;
  // Nodes by the value of a label.
  const Domains& domains(const std::string& topology_key) const;

  // The plugins' combined word (volcano.md 2.9).
  bool job_before(JobId a, JobId b) const;
  // JobOrderHook; of the first plugin that has groups.
  std::uint32_t order_group(JobId id) const;
  bool queue_before(QueueId a, QueueId b) const;
  bool task_before(const TaskSpec& a, const TaskSpec& b) const;
  std::optional<Refusal> job_invalid(JobId id) const;
  bool job_ready(JobId id) const;
  // Ready, and its members without requests have nodes as well, as far as the gang needs them.
  bool job_placed(JobId id) const;
  bool job_pipelined(JobId id) const;
  std::optional<WallTime> overdue_since(JobId id) const;
  bool may_enqueue(JobId id, Refusal& why) const;
  bool allocatable(QueueId queue, const TaskSpec& task, Refusal& why) const;
  bool overused(QueueId queue, Refusal& why) const;
  bool job_starving(JobId id) const;
  bool preemptive(QueueId queue, const TaskSpec& task, Refusal& why) const;
  TaskRefs preemptable(TaskRef claimant, const TaskRefs& candidates) const;
  TaskRefs reclaimable(TaskRef claimant, const TaskRefs& candidates) const;
  // Of those, whoever decided on them: whose places would not be taken back at once.
  TaskRefs without_return(TaskRef claimant, TaskRefs leaving) const;
  // For a whole gang; across_queues: by reclaiming.
  TaskRefs gang_evictable(TaskRef claimant, const TaskRefs& candidates, bool across_queues) const;
  bool guarded(const TaskSpec& task) const;
  // Whether the configuration takes from queues that have too much.
  bool reclaims() const { return reclaims_; }
  // What lower jobs of its queue hold, if they may be made to leave for it.
  Resource preemptable_in_queue(JobId id) const;
  // What other queues would have to give back for it.
  Resource freeable(JobId id) const;
  // Whether `a` is evicted before `b`, when `claimant` needs room.
  bool leaves_before(TaskRef a, TaskRef b, QueueId claimant) const;

  // Brings in the jobs that were left out because nothing of them waits; they are parked.
  void load_all();
  // After load_all: tasks of known jobs that held a place on the node then.
  const TaskRefs& residents(NodeSlot slot) const;
  const std::vector<Eviction>& evictions() const { return evictions_; }
  // How often victims were looked for on behalf of a task of the same queue.
  std::uint64_t preemption_attempts() const { return preemption_attempts_; }
  void count_preemption_attempt() { ++preemption_attempts_; }
  // Who was made to leave for the job, in this session or before, and is still there.
  std::vector<TaskSpecPtr> leaving_for(JobId id) const;

  // Phase Inqueue from now on; the plugins take note.
  void admit(JobId id);
  // A task that its queue held back is let go, with room in the queue kept for it.
  void lift_gate(TaskRef ref);
  const TaskRefs& lifted_gates() const { return lifted_gates_; }
  // Every Allocated task of the job is to be bound.
  void dispatch(JobId id);
  // For gang's verdict at close.
  void set_condition(JobId id, PodGroupCondition condition) {
    conditions_[id] = std::move(condition);
  }
  const PodGroupCondition* condition(JobId id) const;
  // The tasks this session decided to bind, by job.
  std::map<JobId, std::vector<std::uint32_t>> bound_tasks() const;
  // Who is at work: what is decided is put down to it.
  void begin(std::string_view action) { action_ = action; }
  std::string_view action() const { return action_; }
  std::string_view bound_by(JobId id) const {
    const auto place = bound_by_.find(id);
    return place == bound_by_.end() ? std::string_view() : place->second;
  }

 private:
  friend class Statement;
  void open_plugins();
  void each_entry(PluginPart part, const std::function<void(Plugin&)>& visit);
  JobInfo& edit_job(JobId id);
  void take_back_incomplete();
  void place(TaskRef ref, TaskStatus status, NodeSlot slot);
  void unplace(TaskRef ref);
  void evict(TaskRef ref);
  void unevict(TaskRef ref, TaskStatus before);
  void moved(TaskRef ref, int sign);
  void enter_queue(JobId id);
  std::string kinship(const TaskSpec& task) const;
  TaskSpecPtr spread_by_default(const TaskSpecPtr& task);

  Snapshot world_;
  const Config& config_;
  std::string id_;
  WallTime now_;
  PluginSet plugins_;
  std::vector<std::pair<std::string_view, std::size_t>> entries_;  // where their plugins end
  AroundPlugin around_;
  ExtenderCaller* extender_;
  std::map<QueueName, QueueId> queue_ids_;
  Guarantees guarantees_;
  std::vector<QueueId> queue_of_;
  std::vector<bool> parked_;
  std::map<JobId, JobNote> notes_;
  std::map<JobId, PodGroupCondition> conditions_;
  std::map<JobId, std::vector<std::uint32_t>> bound_;
  std::map<JobId, std::string_view> bound_by_;
  std::string_view action_;
  std::map<JobId, const Domain*> confined_;
  bool reclaims_ = false, loaded_ = false;
  std::vector<Eviction> evictions_;
  std::uint64_t preemption_attempts_ = 0;
  TaskRefs lifted_gates_;
  std::vector<TaskRefs> residents_;  // by slot; empty until load_all
  std::vector<NodeSlot> node_changes_;
  // Looked up, never walked. By shape, and for those whom other pods concern by what they say of
  // others and who says what of them.
  std::map<std::tuple<const PodShape*, const PodTerms*, std::string>, std::unique_ptr<NodeBoard>>
      boards_;
  std::map<std::pair<const PodTerms*, std::string>, PodTermsPtr> default_terms_;
  std::vector<PodMove> pod_moves_;
  mutable std::optional<std::vector<PlacedPod>> placed_pods_{};
  mutable std::map<std::string, Domains> domains_{};
  mutable std::optional<std::map<NodeSlot, LateRoom>> late_rooms_{};
};

}  // namespace krater::scheduler
