// What the scheduler knows of pods, nodes, jobs (PodGroups) and queues, in its own small structs.
// Parts that never change are shared; the rest is cheap to copy, so that a session can change its
// own copy of what it touches.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/node_affinity.h"
#include "model/pod.h"
#include "model/podgroup.h"
#include "model/queue.h"
#include "scheduler/pod_terms.h"
#include "scheduler/resource.h"
#include "scheduler/sub_groups.h"

namespace krater::scheduler {

// Place of a node in the cache; stable while the node is known or has pods. Never an order: nodes
// go by name.
using NodeSlot = std::uint32_t;
inline constexpr NodeSlot kNoNode = UINT32_MAX;

// A PodGroup, or a pod without one ("pod/<name>", which no PodGroup can be called): a job of one.
struct JobKey {
  std::string name_space, name;
  std::string text() const { return name_space + "/" + name; }
  bool of_one_pod() const { return name.starts_with("pod/"); }
  friend auto operator<=>(const JobKey&, const JobKey&) = default;
};

enum class TaskStatus {
  Pending,
  Allocated,
  Pipelined,
  Binding,
  Bound,
  Running,
  Releasing,
  Succeeded,
  Failed,
  Unknown
};
inline constexpr std::size_t kTaskStatuses = 10;
std::string_view to_text(TaskStatus status);
// Allocated, Binding, Bound, Running: holds a node's resources for good.
bool is_allocated(TaskStatus status);
// Whether, and how, the task weighs on its node.
bool uses_node(TaskStatus status);
// Bound or Running: may be evicted.
bool holds_place(TaskStatus status);

// All that decides where a pod may go and how well. Pods that ask the same share one shape, and
// with it the answers found for it within a cycle.
struct PodShape {
  Resource request;  // with pods: 1
  Labels node_selector;
  NodeAffinity affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  std::vector<std::pair<std::string, std::string>> claims{};  // namespace and name; own order
  // Asks for nothing but a place in the pod count.
  bool best_effort() const;
};
using ShapePtr = std::shared_ptr<const PodShape>;

struct TaskSpec {
  JobKey job;
  ObjectPtr pod;  // the bytes are shared with everybody; no document is held
  ShapePtr shape;
  PodTermsPtr terms;  // what it says of other pods; null: nothing
  std::string role;   // "default" when the pod names none
  std::string priority_class;
  std::int64_t priority = 1;
  WallTime created;
  bool gated = false;
  // Asks to wait for room in its queue before anybody looks for a node: behind a gate of its own,
  // by which alone it is held back now; and once that is gone the room stays its own.
  bool queue_gate = false, held_by_queue = false;
  bool preemptable = true;
  bool preempts = true;  // preemptionPolicy is not Never
  NodeName nominated;
  std::optional<std::int64_t> number{};  // at the end of the name of one of many
  // What single plugins ask of every pod, read once a version: when its node took it, until when it
  // is left alone after it was placed, whether it may go to nodes that are revoked.
  std::optional<WallTime> started{}, cools_until{};
  bool revocable = false;

  const std::string& name() const { return pod->name(); }
  const std::string& name_space() const { return pod->name_space(); }
};
using TaskSpecPtr = std::shared_ptr<const TaskSpec>;

struct Task {
  TaskSpecPtr spec;
  TaskStatus status = TaskStatus::Pending;
  NodeSlot node = kNoNode;
  std::uint32_t sub_group = 0;  // place in JobInfo::sub_groups, where there are policies
};

struct JobInfo {
  JobKey key;
  ObjectPtr group;  // null for a job of one without PodGroup, and while the PodGroup is not there
  bool known = false;  // has its PodGroup, or needs none; else nothing of it is placed
  QueueName queue;
  std::string priority_class;
  std::int64_t priority = 0;
  std::int64_t min_member = 1;
  std::map<std::string, std::int64_t> role_minimums{};
  std::optional<Resource> min_resources{};
  std::optional<NetworkWish> network{};
  std::shared_ptr<const SubGroupPolicies> sub_group_policies{};  // null: none
  PodGroupPhase phase = PodGroupPhase::Pending;
  WallTime created;
  std::vector<Task> tasks{};  // by pod name
  std::uint64_t version = 0;  // grows with every change from outside
  // Admitted, but no node has the room in one piece, though there is enough of it in all: holding
  // it back would help nobody.
  bool fragmented = false;
  // Lost its places to others: admitted as it is, it waits for nodes only.
  bool displaced = false;
  std::optional<Duration> waiting_limit{};  // its own, for the sla plugin
  bool yields = false;                      // says that it may be preempted, for the tdm plugin

  // Kept by set_status and the cache:
  std::array<std::int64_t, kTaskStatuses> counts{};
  Resource allocated{};  // of tasks in an allocated status
  Resource pending{};    // of Pending tasks
  std::int64_t pending_best_effort = 0;
  std::int64_t pending_queue_gates = 0;  // with a queue gate, lifted or not
  std::vector<SubGroup> sub_groups{};    // empty without policies

  bool synthetic() const { return known && !group; }
  // A pod on its own, for which a controller is about to make a PodGroup.
  bool awaits_group() const { return !known && key.of_one_pod(); }
  std::int64_t count(TaskStatus status) const { return counts[static_cast<std::size_t>(status)]; }
  std::int64_t ready_tasks() const;  // Allocated-set and Succeeded
  std::int64_t waiting_tasks() const { return count(TaskStatus::Pipelined); }
  std::int64_t valid_tasks() const;  // Allocated-set, Succeeded, Pipelined, Pending
  std::int64_t allocated_tasks() const;
  bool is_ready() const { return ready_tasks() + pending_best_effort >= min_member; }
  bool is_pipelined() const {
    return waiting_tasks() + ready_tasks() + pending_best_effort >= min_member;
  }
  // PG phase Pending: admission is still to come.
  // A group that has completed and got new members is admitted anew.
  bool is_pending() const {
    return !known || (group && (phase == PodGroupPhase::Pending || starts_again()));
  }
  bool is_starving() const {
    return waiting_tasks() + ready_tasks() < min_member || !sub_groups_pipelined();
  }
  // Role minimums bind only when minMember is at least their sum.
  bool roles_bind() const;
  // Sub-groups, by their policies' minimums: there, ready, ready once everything promised is free.
  bool sub_groups_valid() const;
  bool sub_groups_ready() const;
  bool sub_groups_pipelined() const;
  // Tasks of a role in one of the statuses that `counted` accepts.
  std::map<std::string, std::int64_t> by_role(bool (*counted)(const Task&)) const;
  // minResources of what is not allocated yet; gated pods' requests do not count.
  Resource wanted_min() const;
  Resource gated_requests() const;
  // Held back for it once it was admitted, until its tasks take it: in its queue, and (of
  // PodGroups) in the cluster as a whole.
  Resource admitted_in_queue() const;
  Resource admitted_in_cluster() const;
  // Something of it waits: for admission, for a node, or for pods to be made.
  bool open() const;
  // Admitted, and nobody has made its pods.
  bool is_bare() const;
  // Allocated beyond minResources.
  Resource elastic() const;

  void add(Task task);
  void remove(std::string_view name);
  Task* find(std::string_view name);
  void set_status(Task& task, TaskStatus status, NodeSlot node);
  // The policies, or what the tasks are labelled with, have changed.
  void regroup();

 private:
  bool starts_again() const {
    return phase == PodGroupPhase::Completed && ready_tasks() == 0 &&
           count(TaskStatus::Pending) > 0;
  }
  void count_in(const Task& task, std::int64_t sign);
  void count_in_sub_group(const Task& task, std::int64_t sign);
  std::uint32_t sub_group_of(const TaskSpec& task);
};
using JobPtr = std::shared_ptr<const JobInfo>;

// How busy a node is by its own account (annotation krater.io/node-usage): per mille of its
// capacity.
struct NodeUsage {
  WallTime at;
  std::int64_t cpu = 0, memory = 0;
  friend bool operator==(const NodeUsage&, const NodeUsage&) = default;
};

// What a node is, apart from what runs on it.
struct NodeSpec {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  Resource allocatable;
  std::optional<NodeUsage> usage{};
  std::map<std::string, std::int64_t> images{};  // what it has, in bytes
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

struct NodeInfo {
  std::shared_ptr<const NodeSpec> spec;  // null while only its pods are known
  std::string name;
  Resource idle, used, releasing, pipelined;
  std::map<HostPort, int> host_ports{}, leaving_ports{};        // all, and those about to be free
  std::map<std::pair<std::string, std::string>, int> claims{};  // what its tasks use of them
  std::int64_t tasks = 0;

  // What will be free once everything that is leaving has left and all that was promised has come.
  Resource future_idle() const { return idle + releasing - pipelined; }
  // Nobody has it; or, `future`, nobody will once those that are leaving have left.
  bool port_free(const HostPort& port, bool future) const;
  // Books a task in (sign 1) or out (-1) under this status.
  void book(const PodShape& shape, TaskStatus status, int sign);
};
using NodePtr = std::shared_ptr<const NodeInfo>;

struct QueueInfo {
  QueueName name;
  ObjectPtr object;
  std::int64_t weight = 1, priority = 0;
  bool reclaimable = true;
  bool fifo = false;  // the first job that has to wait keeps the others waiting
  QueueName parent;
  QueueState state = QueueState::Open;
  Bounds capability, deserved;
  Resource guarantee;  // as written; what is kept for it says the session
  std::optional<std::int64_t> overcommit_per_mille{};  // of what it deserves, to be admitted
  ResourceList reported;                               // status.allocated as stored
  WallTime created;
};
using QueuePtr = std::shared_ptr<const QueueInfo>;

// "job-task-12": 12. Names with fewer parts have no number.
std::optional<std::int64_t> trailing_number(std::string_view name);
// The order tasks of equal rank go in: the number that ends a pod's name (of names with at least
// three parts, as jobs number their pods), then creation, then name.
bool created_before(const TaskSpec& a, const TaskSpec& b);

}  // namespace krater::scheduler
