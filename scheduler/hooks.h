// What plugins can have a say in. A plugin is one class that inherits the hooks it serves;
// PluginSet sorts it into its tier. Plugins see a const Session and are told of every placement;
// they never hold a client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/info.h"

namespace krater::scheduler {

class Session;
struct SessionFigures;

using JobId = std::uint32_t;    // place in Session's jobs, by key
using QueueId = std::uint32_t;  // place in Session's queues, by name
inline constexpr QueueId kNoQueue = UINT32_MAX;

struct TaskRef {
  JobId job = 0;
  std::uint32_t task = 0;
  friend auto operator<=>(const TaskRef&, const TaskRef&) = default;
};
using TaskRefs = std::vector<TaskRef>;

enum class Vote { Reject = -1, Abstain = 0, Permit = 1 };

// One amount that does not suffice, for programs: of what, which, how much is asked and had, how
// much is missing.
struct Shortfall {
  std::string of;  // "queue research", "cluster", "namespace team"
  std::string resource;
  std::vector<std::pair<std::string, std::int64_t>> amounts{};  // "requested", "limit", ...
  std::int64_t lacking = 0;
  std::string set_by{};         // whose limit it is, when that is not plain from `of`
  std::int64_t guaranteed = 0;  // so much of that is guaranteed to others
};

// No, and why: what upstream would say, the figures behind it, and both for programs.
struct Refusal {
  std::string reason;       // "NotEnoughTasks"; "" where there is no such word
  std::string message;      // "insufficient cpu"
  std::string figures{};    // "queue q: cpu requested 6, allocated 2, limit 5"
  std::string_view code{};  // scheduler/why.h
  std::vector<Shortfall> shortfalls{};
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  // Before anything else, once a session.
  virtual void open(const Session& session) {}
  // After the last action.
  virtual void close(Session& session) {}
  // Jobs from `first` on were not in the session when it was opened: what runs and is complete is
  // looked at only when somebody may have to go.
  virtual void joined(const Session& session, JobId first) {}
  // A task was placed (Allocated or Pipelined), or its placement was taken back. An eviction is
  // told as the latter, its undoing as the former.
  virtual void placed(const Session& session, JobId job, const TaskSpec& task) {}
  virtual void unplaced(const Session& session, JobId job, const TaskSpec& task) {}
  // There is room for it in its queue: it need not be held back any more.
  virtual void gate_lifted(const Session& session, JobId job, const TaskSpec& task) {}
  // What its books say, for those who show numbers; after close.
  virtual void measure(const Session& session, SessionFigures& out) const {}
};

// Comparisons: <0 means a goes first, 0 leaves it to the next.
struct JobOrderHook {
  virtual ~JobOrderHook() = default;
  virtual int job_order(const Session& session, JobId a, JobId b) const = 0;
  // Jobs of one queue that change places with others together, when one of them is placed: they
  // have one number. 0: nobody else's place changes.
  virtual std::uint32_t order_group(JobId job) const { return 0; }
};
struct QueueOrderHook {
  virtual ~QueueOrderHook() = default;
  virtual int queue_order(const Session& session, QueueId a, QueueId b) const = 0;
  // Whether placing something in one queue may move others, too.
  virtual bool moves_others() const { return false; }
};
struct TaskOrderHook {
  virtual ~TaskOrderHook() = default;
  virtual int task_order(const TaskSpec& a, const TaskSpec& b) const = 0;
};
// A sub-group of a job, some tasks of which wait for a place.
struct SubGroupTurn {
  const SubGroup* group = nullptr;
  std::int64_t priority = 0;  // the highest of those that wait
  bool done = false;          // it has what it needs
};
struct SubGroupOrderHook {
  virtual ~SubGroupOrderHook() = default;
  virtual int sub_group_order(const SubGroupTurn& a, const SubGroupTurn& b) const = 0;
};

struct JobValidHook {
  virtual ~JobValidHook() = default;
  virtual std::optional<Refusal> job_valid(const JobInfo& job) const = 0;
};
struct JobReadyHook {
  virtual ~JobReadyHook() = default;
  virtual bool job_ready(const JobInfo& job) const = 0;
  // The same, but that what requests nothing counts only once it has a node.
  virtual bool job_placed(const JobInfo& job) const { return job_ready(job); }
};
struct JobPipelinedHook {
  virtual ~JobPipelinedHook() = default;
  virtual Vote job_pipelined(const JobInfo& job) const = 0;
};
// The same of one sub-group: when it is placed, for now, and another one's turn comes.
struct SubGroupReadyHook {
  virtual ~SubGroupReadyHook() = default;
  virtual bool sub_group_ready(const SubGroup& group) const = 0;
};
struct SubGroupPipelinedHook {
  virtual ~SubGroupPipelinedHook() = default;
  virtual Vote sub_group_pipelined(const SubGroup& group) const = 0;
};

// Since when a job has waited longer than it may; the one that has waited longest is served before
// all others, and what it gets is held for it.
struct OverdueHook {
  virtual ~OverdueHook() = default;
  virtual std::optional<WallTime> overdue_since(const JobInfo& job) const = 0;
};

struct EnqueueHook {
  virtual ~EnqueueHook() = default;
  virtual Vote may_enqueue(const Session& session, JobId job, Refusal& why) const = 0;
  virtual void enqueued(const Session& session, JobId job) = 0;
};
struct AllocatableHook {
  virtual ~AllocatableHook() = default;
  virtual bool allocatable(const Session& session, QueueId queue, const TaskSpec& task,
                           Refusal& why) const = 0;
};
struct OverusedHook {
  virtual ~OverusedHook() = default;
  virtual bool overused(const Session& session, QueueId queue, Refusal& why) const = 0;
};

// Whether a pod of this shape may go to a node. The first reason found counts.
struct FilterHook {
  virtual ~FilterHook() = default;
  // For good, whatever runs there; "" when it may. Asked once a shape and node and session.
  virtual std::string reject(const PodShape& shape, const NodeSpec& node) const = 0;
  // Because of what runs there; asked only if `depends_on_load`.
  virtual bool depends_on_load(const PodShape& shape) const = 0;
  // `future`: once those that are leaving have left.
  virtual std::string_view reject_now(const PodShape& shape, const NodeInfo& node,
                                      bool future) const = 0;
};

// How a task differs from others of its shape in the eyes of one plugin: equal words, equal
// answers. An empty word: the plugin has nothing to say about this task.
struct Likeness {
  std::string word{};
  bool of_others = false;  // placements on other nodes may change the answers
};
// Filters and scores that look beyond the shape: at the pod itself, its job, its queue, or at what
// the plugin knows of the node. Asked about tasks with a word only.
struct TaskFilterHook {
  virtual ~TaskFilterHook() = default;
  virtual Likeness likeness(const Session& session, TaskRef task) const = 0;
  // "" when it may go there; `future`: once those that are leaving have left.
  virtual std::string reject_task(const Session& session, TaskRef task, NodeSlot node,
                                  bool future) const = 0;
};
struct TaskScoreHook {
  virtual ~TaskScoreHook() = default;
  virtual Likeness likeness(const Session& session, TaskRef task) const = 0;
  virtual std::int64_t score_task(const Session& session, TaskRef task, NodeSlot node) const = 0;
};

// Points for a node; 100 * kPoint is a perfect score before weights.
inline constexpr std::int64_t kPoint = 1000;
struct ScoreHook {
  virtual ~ScoreHook() = default;
  // By what runs there; asked again when that changes.
  virtual std::int64_t score(const PodShape& shape, const NodeInfo& node) const = 0;
  // Adds what does not change within a session, for all nodes that pass the filters for good.
  virtual void add_fixed(const PodShape& shape, const std::vector<const NodeSpec*>& nodes,
                         std::vector<std::int64_t>& scores) const {}
};

// Whether a job is so short of places that it may take others'.
struct JobStarvingHook {
  virtual ~JobStarvingHook() = default;
  virtual bool job_starving(const JobInfo& job) const = 0;
};
// Which of `candidates` may be evicted in favour of `claimant`: within a queue, and across queues.
// nullopt: no opinion.
struct PreemptableHook {
  virtual ~PreemptableHook() = default;
  virtual std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                              const TaskRefs& candidates) const = 0;
};
struct ReclaimableHook {
  virtual ~ReclaimableHook() = default;
  virtual std::optional<TaskRefs> reclaimable(const Session& session, TaskRef claimant,
                                              const TaskRefs& candidates) const = 0;
};
// Of those who would leave for the claimant, by whichever plugin's word: those whose queue could
// not ask for their place at once, and would get it back.
struct ReturnHook {
  virtual ~ReturnHook() = default;
  virtual TaskRefs without_return(const Session& session, TaskRef claimant,
                                  const TaskRefs& leaving) const = 0;
};
// Of those who answer who may go: who keeps pods for their own sake, whoever asks. What is said of
// such pods: "are in their cool-down time".
struct KeeperHook {
  virtual ~KeeperHook() = default;
  virtual std::string_view keeps_as() const = 0;
  // For the sake of their gang only: it says nothing to those who go with all of it.
  virtual bool keeps_gangs_together() const { return false; }
};
// Whether the queue may take from other queues for one more such task.
struct PreemptiveHook {
  virtual ~PreemptiveHook() = default;
  virtual bool preemptive(const Session& session, QueueId queue, const TaskSpec& task,
                          Refusal& why) const = 0;
};
// Which of two queues gives first; <0: a.
struct VictimQueueOrderHook {
  virtual ~VictimQueueOrderHook() = default;
  virtual int victim_queue_order(const Session& session, QueueId claimant, QueueId a,
                                 QueueId b) const = 0;
};
// What other queues would have to give back if the job asked, at most: admission counts on it.
struct FreeableHook {
  virtual ~FreeableHook() = default;
  virtual Resource freeable(const Session& session, JobId job) const = 0;
};
// What somebody holds that the job could use. Holds: by right, or so that its own queue may not
// take it.
struct Holding {
  enum class Title { Guaranteed, BeyondDeserved, Holds };
  std::string queue;
  Resource amounts{};
  Title title = Title::BeyondDeserved;
  bool reclaimable = true;
};
// Others go first because they have used less of late.
struct Queued {
  std::string user, used;
  std::int64_t jobs_ahead = 0;
  std::string first, first_user, first_used;  // of those
};
struct Circumstances {
  std::vector<std::string> lines{};   // in words
  std::vector<Holding> holdings{};    // the same
  std::optional<Queued> queued{};     // the same
  std::vector<Shortfall> deserved{};  // its queue may take no more from others
};
// What keeps a job waiting that is not said by a refusal: who holds what, and what would help.
struct WhyHook {
  virtual ~WhyHook() = default;
  virtual void say_why(const Session& session, JobId job, Circumstances& out) const = 0;
};
// Who must never be evicted, not even because the rest of his gang goes.
struct EvictionGuardHook {
  virtual ~EvictionGuardHook() = default;
  virtual bool protects(const TaskSpec& task) const = 0;
};

// Which of `candidates` may go, singly or with their gang, for a whole gang (gangpreempt,
// gangreclaim). What every plugin with an opinion allows is allowed.
struct GangEvictableHook {
  virtual ~GangEvictableHook() = default;
  virtual TaskRefs gang_evictable(const Session& session, TaskRef claimant,
                                  const TaskRefs& candidates, bool across_queues) const = 0;
};
// Running tasks that had better be elsewhere, whoever waits: for the shuffle action, after
// load_all.
struct VictimTasksHook {
  virtual ~VictimTasksHook() = default;
  // Whether it is time to look for some; asked first, as looking costs.
  virtual bool due(const Session& session) const = 0;
  virtual TaskRefs victim_tasks(const Session& session) = 0;
  // Whether the others of a gang are to go along with those it cannot do without; else these stay.
  virtual bool gang_may_go(const JobInfo& job) const { return false; }
};
// What is to be written on the pod when it is bound.
struct BindNotesHook {
  virtual ~BindNotesHook() = default;
  virtual void annotate(const Session& session, TaskRef task, Labels& annotations) const = 0;
};

// Where a gang may go as a whole: groups of node sets, the nearest first; within a group the best
// one is taken. No group: anywhere; a group of none: nowhere.
struct Domain {
  std::string name;
  std::vector<bool> nodes{};  // by slot
  std::int64_t score = 0;     // before anything is placed
};
struct DomainHook {
  virtual ~DomainHook() = default;
  virtual std::vector<std::vector<Domain>> domains_for(const Session& session, JobId job) const = 0;
  // Of one of its sub-groups (place in JobInfo::sub_groups), within what the job is confined to.
  virtual std::vector<std::vector<Domain>> domains_for_sub_group(const Session& session, JobId job,
                                                                 std::uint32_t group) const = 0;
  // The nearest domain around all that the job has placed; "" when it has not, or does not care.
  virtual std::string domain_of(const Session& session, JobId job) const = 0;
};

}  // namespace krater::scheduler
