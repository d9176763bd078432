// The scheduler's own picture of the cluster, kept up event by event; what has been decided but is
// not stored yet (binds in flight, a PodGroup's new phase) is in it too. Lives on the scheduler's
// loop, knows no client.
//
// Always holds: a node's bookings are exactly those of the tasks that name it; a job's counters are
// those of its tasks; a task that is Binding keeps its node until the bind is confirmed or
// forgotten.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/extract.h"
#include "scheduler/snapshot.h"

namespace krater::scheduler {

class Cache {
 public:
  struct Options {
    std::set<std::string, std::less<>> scheduler_names{"volcano", "default-scheduler"};
    QueueName default_queue{"default"};
    std::set<std::string, std::less<>> grouped_schedulers{};  // scheduler::Options
  };
  Cache() : Cache(Options()) {}
  explicit Cache(Options options) : options_(std::move(options)) {}

  // An older revision than the known one is ignored.
  void set_pod(const ObjectPtr& pod);
  void remove_pod(const std::string& name_space, const std::string& name);
  void set_node(const ObjectPtr& node);
  void remove_node(const std::string& name);
  void set_group(const ObjectPtr& group);
  void remove_group(const std::string& name_space, const std::string& name);
  void set_queue(const ObjectPtr& queue);
  void remove_queue(const std::string& name);
  void set_namespace(const ObjectPtr& name_space);
  void remove_namespace(const std::string& name);
  // Of the kinds in Surroundings.
  void set_surrounding(const ObjectPtr& object);
  void remove_surrounding(const Kind& kind, const std::string& name_space, const std::string& name);
  std::vector<std::pair<std::string, std::string>> surrounding_names(const Kind& kind) const;
  void set_priority_class(const ObjectPtr& priority_class);
  void remove_priority_class(const std::string& name);
  // Claims, volumes and their classes: to be changed here; what changes may help those who wait.
  VolumeBook& edit_volumes();
  const VolumeBook& volumes() const { return *volumes_; }
  // Services and workloads: to be changed here. They only say which of the nodes is better.
  SpreadDefaults& edit_spread_defaults();
  const SpreadDefaults& spread_defaults() const { return *spread_defaults_; }

  // The task is on its way to the node. False when the pod is gone, replaced or no longer Pending.
  bool assume(const JobKey& job, const std::string& pod, const Uid& uid, NodeSlot node);
  // The bind did not happen: the task is Pending again, unless it has moved on meanwhile.
  void forget(const JobKey& job, const std::string& pod, const Uid& uid);
  // The task is on its way out: it holds its place until its pod is gone. False when the pod is not
  // the one meant, or does not hold a place.
  bool assume_evicted(const JobKey& job, const std::string& pod, const Uid& uid);
  // It was not evicted after all.
  void forget_eviction(const JobKey& job, const std::string& pod, const Uid& uid);
  // The phase just decided; it counts from now on, whatever is stored.
  void set_phase(const JobKey& job, PodGroupPhase phase);
  // Whether the room it wants is there in fragments only. True when that is new.
  bool set_fragmented(const JobKey& job, bool fragmented);
  // The job, if there still is one, is in the next snapshot though nothing of it changes.
  void look_at(const JobKey& job);

  Snapshot snapshot(Scope scope);
  // Of the jobs as they are now.
  const std::map<QueueName, QueueSums>& queue_sums();
  // Who has used how much. `use_fairshare`: whose usage is to be counted from now on (null:
  // nobody's); true when these rules are new.
  FairshareBook& fairshare() { return fairshare_; }
  bool use_fairshare(std::shared_ptr<const FairshareRules> rules);
  // Grows with every change that may help a job other than the one it is about: room, nodes,
  // queues, and whatever plugins may read; not with what the scheduler itself writes, nor with how
  // far a pod is.
  std::uint64_t help() const { return help_; }
  void note_help() { ++help_; }
  // Jobs and queues touched since the last call, for the status writers.
  bool has_changes() const { return !changed_jobs_.empty(); }
  std::set<JobKey> take_changed_jobs() { return std::exchange(changed_jobs_, {}); }

  // The newest form of a task that still waits for a node; null otherwise.
  TaskSpecPtr pending_task(const TaskSpec& task) const { return pending_task(*task.pod); }
  TaskSpecPtr pending_task(const Object& pod) const;
  // In some form: it waits for a node of ours, or holds one.
  bool knows_pod(const Object& pod) const;
  // Still on its way to the node it was given.
  bool assumed(const TaskSpec& task) const;
  // Still there, and on its way out.
  bool leaving(const TaskSpec& task) const;
  const JobInfo* job(const JobKey& key) const;
  const QueueInfo* queue(const QueueName& name) const;
  const NodeInfo* node(NodeSlot slot) const { return nodes_[slot].get(); }
  const std::map<JobKey, JobPtr>& jobs() const { return jobs_; }
  const std::map<QueueName, QueuePtr>& queues() const { return queues_; }
  const ResourceNames& names() const { return names_; }
  std::vector<std::pair<std::string, std::string>> pod_names() const;
  std::vector<std::string> node_names() const;
  std::vector<std::pair<std::string, std::string>> group_names() const;
  std::vector<std::string> queue_names() const;
  std::vector<std::string> priority_class_names() const;
  std::vector<std::string> namespace_names() const;

 private:
  using Place = std::pair<std::string, std::string>;  // namespace, name
  struct PodRecord {
    TaskSpecPtr spec;
    TaskStatus status = TaskStatus::Pending;
    NodeSlot node = kNoNode;
    bool in_job = false;   // ours; other schedulers' pods only use their node
    bool evicted = false;  // by us; its deletion may not be stored yet
    ObjectPtr newer{};     // what was said of it while it is Binding
    std::uint64_t words = 0;
  };
  struct GroupRecord {
    Uid uid;  // whose phase is ours already
    std::uint64_t words = 0;
  };

  bool ours(const PodView& pod) const;
  JobInfo& edit_job(const JobKey& key);   // a change that matters to the job: it is tried again
  JobInfo& touch_job(const JobKey& key);  // any other change
  NodeInfo& edit_node(NodeSlot slot);
  NodeSlot slot_of(const std::string& node);
  void release_slot(NodeSlot slot);
  void settle();
  void drop_job_if_empty(const JobKey& key);
  void enter(const Place& place, const PodRecord& record);
  void leave(const Place& place, const PodRecord& record);
  void move(PodRecord& record, TaskStatus status, NodeSlot node);
  bool refresh(const Place& place, PodRecord& record, const PodRecord& next);
  void note_change(const PodRecord& before, const PodRecord& next);
  void count_company(const PodRecord& record, int by);
  void note_company();
  std::vector<PlacedPod> placed_pods() const;
  std::vector<JobPtr> rest_of(const std::set<JobKey>& known) const;
  bool awaits_group(const PodView& pod) const;
  void start_plain_job(const PodView& pod, JobInfo& job) const;
  QueueName queue_of_plain_pod(const PodView& pod) const;
  void prefer_queue(const std::string& name_space, const std::string& queue);
  void refresh_priority(JobInfo& job) const;
  void refresh_priorities();

  Options options_;
  ResourceNames names_;
  Shapes shapes_;
  TermsPool terms_;
  int wants_company_ = 0;  // tasks that wait and that others may help by being somewhere
  std::shared_ptr<VolumeBook> volumes_ = std::make_shared<VolumeBook>();
  std::shared_ptr<SpreadDefaults> spread_defaults_ = std::make_shared<SpreadDefaults>();
  std::shared_ptr<const Surroundings> surroundings_ = std::make_shared<const Surroundings>();
  std::shared_ptr<const NamespaceLabels> namespaces_ = std::make_shared<NamespaceLabels>();
  std::map<std::string, std::string> preferred_queues_;  // by namespace, where it has one
  std::map<Place, PodRecord> pods_;
  std::map<JobKey, JobPtr> jobs_;
  std::map<QueueName, QueuePtr> queues_;
  std::map<std::string, PriorityClassInfo> priority_classes_;
  std::vector<NodePtr> nodes_;  // by slot
  std::map<std::string, NodeSlot> slots_;
  std::vector<NodeSlot> free_slots_;
  std::map<JobKey, GroupRecord> groups_;
  std::set<JobKey> changed_jobs_;
  std::set<JobKey> open_jobs_;       // as of the last settle()
  std::set<JobKey> unsettled_jobs_;  // touched since
  std::set<NodeSlot> unsettled_nodes_;
  JobLedger job_ledger_;
  NodeLedger node_ledger_;
  FairshareBook fairshare_;
  std::vector<NodeSlot> order_;      // slots of the nodes there are, by name
  std::vector<std::uint32_t> rank_;  // by slot: place in order_
  bool order_stale_ = false;
  std::uint64_t help_ = 1;
  std::uint64_t versions_ =
      0;  // one sequence for all jobs: a job made anew never repeats a version
};

}  // namespace krater::scheduler
