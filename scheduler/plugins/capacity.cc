// capacity: every queue has a floor (guarantee), a fair point (deserved) and a ceiling
// (capability). A queue may grow to its ceiling, as far as others' guarantees leave room, whatever
// it deserves; what it has beyond its fair point others may take back, down to its floor
// (volcano.md 4.5). With enableHierarchy queues form a tree: only leaves take jobs, every
// ancestor's ceiling holds too, and siblings give before cousins. A flaw in the tree stops the
// queues it concerns and no others.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "scheduler/explain.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/capacity_book.h"
#include "scheduler/plugins/capacity_limits.h"
#include "scheduler/plugins/capacity_rules.h"
#include "scheduler/plugins/capacity_words.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

struct CapacityArgs {
  bool hierarchy = false;
  std::int64_t ancestor_level = 0;  // so many ancestors have a say in who may take and who gives
};

class Capacity final : public Plugin,
                       public QueueOrderHook,
                       public VictimQueueOrderHook,
                       public AllocatableHook,
                       public EnqueueHook,
                       public FreeableHook,
                       public PreemptiveHook,
                       public ReclaimableHook,
                       public ReturnHook,
                       public GangEvictableHook,
                       public WhyHook {
 public:
  explicit Capacity(CapacityArgs args) : args_(args) {}

  void open(const Session& session) override {
    avoids_return_ = session.behaviors().reclaim_avoids_return;
    book_.open(session, args_.hierarchy ? QueueTree::hierarchy(session) : QueueTree::flat(session));
    if (!session.behaviors().flawed_queues_stop_alone) stopped_by_ = first_flaw(session);
    for (JobId id = 0; id < session.job_count(); ++id) {
      if (session.job(id).pending_queue_gates == 0 || session.queue_of(id) == kNoQueue) continue;
      for (const Task& task : session.job(id).tasks) {
        if (task.status == TaskStatus::Pending && task.spec->queue_gate && !task.spec->gated)
          gate_lifted(session, id, *task.spec);
      }
    }
  }

  int queue_order(const Session& session, QueueId a, QueueId b) const override {
    const std::int64_t left = session.queue(a).priority, right = session.queue(b).priority;
    if (left != right) return left > right ? -1 : 1;
    if (tree().leaf(a) != tree().leaf(b)) return tree().leaf(a) ? -1 : 1;
    // Cousins are ordered by the branches they hang on.
    const QueueId branch = tree().branch_towards(a, b), other = tree().branch_towards(b, a);
    const CapacityEntry &mine = book_.of(branch), &theirs = book_.of(other);
    if (const int order = Share::compare(mine.share, theirs.share); order != 0) return order;
    if (mine.deserved.empty() != theirs.deserved.empty()) return mine.deserved.empty() ? 1 : -1;
    if (branch == a && other == b) return 0;
    // The branches decide to the end: by their leaves' ages and names the order would go in a
    // circle.
    const WallTime left_age = session.queue(branch).created,
                   right_age = session.queue(other).created;
    return std::tuple(left_age, branch) < std::tuple(right_age, other) ? -1 : 1;
  }

  bool moves_others() const override { return tree().is_hierarchy(); }

  int victim_queue_order(const Session&, QueueId claimant, QueueId a, QueueId b) const override {
    if (!tree().is_hierarchy()) return 0;
    const std::size_t left = tree().common_depth(a, claimant);
    const std::size_t right = tree().common_depth(b, claimant);
    return left > right ? -1 : left < right ? 1 : 0;
  }

  bool allocatable(const Session& session, QueueId queue, const TaskSpec& task,
                   Refusal& why) const override {
    if (flawed(session, queue, why)) return false;
    for (const QueueId at : book_.path(queue)) {
      const CapacityEntry& entry = book_.of(at);
      if (!entry.bounded) continue;
      std::optional<QueueAccount> reserved;  // where there is anything
      if (!room_kept_.empty()) reserved = with_reserved(entry, task);
      if (!within(session, reserved ? *reserved : entry.account, task.shape->request,
                  entry.account.real_capability, "limit", at, why)) {
        name_sources(session, book_, queue, at, why);
        return false;
      }
    }
    return true;
  }

  // Within the own ceiling, and within what is deserved of something that the task asks for.
  bool preemptive(const Session& session, QueueId queue, const TaskSpec& task,
                  Refusal& why) const override {
    if (flawed(session, queue, why)) return false;
    const Resource& request = task.shape->request;
    const QueueAccount& account = book_.of(queue).account;
    if (!within(session, account, request, account.real_capability, "limit", queue, why)) {
      name_sources(session, book_, queue, queue, why);
      return false;
    }
    for (const QueueId at : asked_ancestors(queue)) {
      if (entitled(at, request)) return true;
    }
    Shortage shortage(session.names());
    for (Dim d = 0; d < request.dims(); ++d) {
      if (d == kPods || request.at(d) <= 0) continue;
      const Bounds& deserved = book_.of(queue).deserved;
      shortage.add(d, {{"requested", request.at(d)},
                       {"allocated", account.allocated.at(d)},
                       {"deserved", deserved.has(d) ? deserved.at(d) : 0}});
    }
    why = {"", "queue \"" + session.queue(queue).name.text() + "\" deserves no more",
           shortage.figures(), codes::kQueueShare,
           shortage.facts("queue " + session.queue(queue).name.text())};
    return false;
  }

  // Who holds more than it deserves gives, down to its guarantee, if what it gives is of use.
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    const QueueId to = session.queue_of(claimant.job);
    const Resource& wanted = session.task(claimant).spec->shape->request;
    TaskRefs ordered = candidates;
    std::sort(ordered.begin(), ordered.end(),
              [&](TaskRef a, TaskRef b) { return session.leaves_before(a, b, to); });
    Left left;
    TaskRefs out;
    for (const TaskRef& one : ordered) {
      const Resource& given = session.task(one).spec->shape->request;
      const QueueId from = session.queue_of(one.job);
      if (stopped_by_ || !tree().flaw(from).empty() || !gives(to, wanted, from, given, left))
        continue;
      for (const QueueId at : own_branch(from, to)) left_of(left, at) -= given;
      out.push_back(one);
    }
    return out;
  }

  // The plugins that named them may stand in a tier before this one, which is not asked then.
  TaskRefs without_return(const Session& session, TaskRef claimant,
                          const TaskRefs& leaving) const override {
    const QueueId to = session.queue_of(claimant.job);
    const Resource& wanted = session.task(claimant).spec->shape->request;
    Left left;
    TaskRefs out;
    for (const TaskRef& one : leaving) {
      const QueueId from = session.queue_of(one.job);
      const Resource& given = session.task(one).spec->shape->request;
      Resource& rest = left_of(left, from);
      if (comes_back(to, wanted, from, rest, given)) continue;
      rest -= given;
      out.push_back(one);
    }
    return out;
  }

  TaskRefs gang_evictable(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                          bool across_queues) const override {
    return across_queues ? *reclaimable(session, claimant, candidates) : candidates;
  }

  Vote may_enqueue(const Session& session, JobId job, Refusal& why) const override {
    const QueueId queue = session.queue_of(job);
    if (flawed(session, queue, why)) return Vote::Reject;
    for (const QueueId at : book_.path(queue)) {
      const CapacityEntry& entry = book_.of(at);
      if (!entry.bounded) continue;
      // In its own queue lower jobs may go; in those above, what others have beyond their due.
      Resource freed = session.preemptable_in_queue(job);
      if (at != queue && session.reclaims() && session.behaviors().enqueue_counts_evictable)
        freed += borrowed(session, at, job);
      if (vote_on_admission(session, entry.account, at, job, freed, why) == Vote::Reject) {
        name_sources(session, book_, queue, at, why);
        return Vote::Reject;
      }
    }
    return Vote::Permit;
  }
  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (!job.min_resources || session.queue_of(id) == kNoQueue) return;
    book_.admit(session.queue_of(id), (*job.min_resources - job.gated_requests()).clamped());
  }

  Resource freeable(const Session& session, JobId job) const override {
    return session.reclaims() ? borrowed(session, tree().root(), job) : Resource();
  }

  void say_why(const Session& session, JobId id, Circumstances& out) const override {
    const QueueId queue = session.queue_of(id);
    const Resource lacking = lacking_request(session, id);
    if (!tree().flaw(queue).empty() || queue == tree().root() || lacking.is_zero()) return;
    CapacityWords(session, book_, asked_ancestors(queue), id, lacking).say(out);
  }

  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    book_.move(session.queue_of(job), task.shape->request, 1);
    if (has_room_kept(task)) book_.reserve(session.queue_of(job), task.shape->request, -1);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    book_.move(session.queue_of(job), task.shape->request, -1);
    if (has_room_kept(task)) book_.reserve(session.queue_of(job), task.shape->request, 1);
  }
  void gate_lifted(const Session& session, JobId job, const TaskSpec& task) override {
    if (!room_kept_.insert(&task).second) return;
    book_.reserve(session.queue_of(job), task.shape->request, 1);
  }

  void measure(const Session& session, SessionFigures& out) const override {
    out.queues = book_.figures(session);
  }

 private:
  // Waited with its gate lifted at some time in this session.
  bool has_room_kept(const TaskSpec& task) const {
    return task.queue_gate && room_kept_.contains(&task);
  }
  // What is taken, in the eyes of a task: with what is kept for others.
  QueueAccount with_reserved(const CapacityEntry& entry, const TaskSpec& task) const {
    QueueAccount out = entry.account;
    out.allocated += entry.reserved;
    if (has_room_kept(task)) out.allocated -= task.shape->request;
    return out;
  }

  using Left = std::map<QueueId, Resource>;  // allocated, less what was promised to go

  const QueueTree& tree() const { return book_.tree(); }
  Resource& left_of(Left& left, QueueId queue) const {
    return left.try_emplace(queue, book_.of(queue).account.allocated).first->second;
  }
  bool flawed(const Session& session, QueueId queue, Refusal& why) const {
    const QueueId culprit = stopped_by_.value_or(queue);
    const std::string& flaw = tree().flaw(culprit);
    if (flaw.empty()) return false;
    why = {"", "queue \"" + session.queue(culprit).name.text() + "\" cannot run jobs: " + flaw, "",
           codes::kQueueTree};
    if (culprit != queue) why.message += ", and so no queue can";
    return true;
  }
  // A queue that has no way up to root, or jobs where none may be.
  std::optional<QueueId> first_flaw(const Session& session) const {
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      if (tree().flaw(q).empty()) continue;
      if (book_.path(q).back() != tree().root() || session.sums(q).jobs > 0) return q;
    }
    return std::nullopt;
  }

  // The queue and as many of its ancestors, without root, as were configured to be asked.
  std::vector<QueueId> asked_ancestors(QueueId queue) const {
    std::vector<QueueId> out{queue};
    const std::vector<QueueId>& path = book_.path(queue);
    for (std::size_t i = 1; i + 1 < path.size() && i <= level(); ++i) out.push_back(path[i]);
    return out;
  }
  // Of those, the ones that are not the other queue's ancestors at the same level.
  std::vector<QueueId> own_branch(QueueId queue, QueueId other) const {
    std::vector<QueueId> out = asked_ancestors(queue);
    const std::vector<QueueId>& theirs = book_.path(other);
    for (std::size_t i = out.size(); i-- > 1;) {
      if (i < theirs.size() && theirs[i] == out[i]) out.erase(out.begin() + static_cast<long>(i));
    }
    return out;
  }
  std::size_t level() const {
    return tree().is_hierarchy() ? static_cast<std::size_t>(args_.ancestor_level) : 0;
  }
  bool share_an_asked_ancestor(QueueId a, QueueId b) const {
    const std::vector<QueueId> left = asked_ancestors(a), right = asked_ancestors(b);
    return std::any_of(left.begin() + 1, left.end(), [&](QueueId one) {
      return std::find(right.begin() + 1, right.end(), one) != right.end();
    });
  }

  bool entitled(QueueId queue, const Resource& request) const {
    const CapacityEntry& entry = book_.of(queue);
    for (Dim d = 0; d < request.dims(); ++d) {
      if (d == kPods || request.at(d) <= 0 || !entry.deserved.has(d)) continue;
      if (entry.account.allocated.at(d) + request.at(d) <= entry.deserved.at(d)) return true;
    }
    return false;
  }

  bool gives(QueueId to, const Resource& wanted, QueueId from, const Resource& given,
             Left& left) const {
    if (!of_use(given, wanted) ||
        !above_floor(left_of(left, from) - given, book_.of(from).guarantee)) {
      return false;
    }
    for (const QueueId at : own_branch(from, to)) {
      const Bounds& deserved = book_.of(at).deserved;
      if (!has_relevant(deserved, given)) {
        // It holds nothing of this by right; but neither, perhaps, does its close relative.
        if (level() > 0 && share_an_asked_ancestor(from, to) &&
            !has_relevant(book_.of(to).deserved, wanted)) {
          return false;
        }
        continue;
      }
      if (!beyond_deserved(left_of(left, at), given, deserved)) return false;
    }
    return !avoids_return_ || !comes_back(to, wanted, from, left_of(left, from), given);
  }

  // The one would be entitled to take it back at once, and the other would hold too much: that
  // would go on for ever.
  bool comes_back(QueueId to, const Resource& wanted, QueueId from, const Resource& rest,
                  const Resource& given) const {
    const Bounds &theirs = book_.of(to).deserved, &mine = book_.of(from).deserved;
    bool over = false, back = false;
    for (Dim d = 0; d < std::max(wanted.dims(), given.dims()); ++d) {
      if (d == kPods) continue;
      over = over || (wanted.at(d) > 0 && theirs.has(d) &&
                      book_.of(to).account.allocated.at(d) + wanted.at(d) > theirs.at(d));
      back = back || (given.at(d) > 0 && mine.has(d) && rest.at(d) <= mine.at(d));
    }
    return over && back;
  }

  // What other queues below `above` hold beyond their due and would have to give, if the job stays
  // within what its own queue deserves.
  Resource borrowed(const Session& session, QueueId above, JobId id) const {
    const JobInfo& job = session.job(id);
    const QueueId queue = session.queue_of(id);
    if (!job.min_resources || queue == kNoQueue ||
        !book_.within_deserved(queue, *job.min_resources))
      return {};
    Resource out;
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      const std::vector<QueueId>& path = book_.path(q);
      if (q == queue || !tree().leaf(q) || !session.queue(q).reclaimable ||
          std::find(path.begin(), path.end(), above) == path.end()) {
        continue;
      }
      out += book_.beyond_due(q);
    }
    return out;
  }
  CapacityArgs args_;
  CapacityBook book_;
  bool avoids_return_ = true;
  std::optional<QueueId> stopped_by_{};  // whose flaw stops all
  std::set<const TaskSpec*> room_kept_;
};

}  // namespace

Result<PluginFactory> configure_capacity(Arguments& arguments, const EnableFlags& flags) {
  CapacityArgs args;
  args.hierarchy = flags.on("enableHierarchy");
  TRY_ASSIGN(args.ancestor_level, arguments.integer("ancestorReclaimLevel", 0));
  if (args.ancestor_level < 0)
    return make_error(Code::Invalid, "argument \"ancestorReclaimLevel\" must not be negative");
  // About claims of devices, which are not served.
  TRY(ignore_booleans(arguments, {"capacity.DynamicResourceAllocationEnable",
                                  "capacity.DRAConsumableCapacityEnable"}));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Capacity>(args), enabled);
  });
}

}  // namespace krater::scheduler
