// proportion: queues share the cluster by weight; what one does not ask for the others may use
// (volcano.md 4.4). A queue never grows past its deserved share, which is worked out from the
// demand of the moment.
#include <algorithm>
#include <map>
#include <optional>

#include "scheduler/amounts.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/capacity_rules.h"
#include "scheduler/plugins/holder_words.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/queue_accounts.h"
#include "scheduler/plugins/water_fill.h"
#include "scheduler/remedies.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

class Proportion final : public Plugin,
                         public QueueOrderHook,
                         public OverusedHook,
                         public AllocatableHook,
                         public EnqueueHook,
                         public FreeableHook,
                         public PreemptiveHook,
                         public ReclaimableHook,
                         public GangEvictableHook,
                         public WhyHook {
 public:
  void open(const Session& session) override {
    accounts_ = open_accounts(session);
    demands_.clear();
    for (const QueueAccount& account : accounts_) demands_.push_back(account.request);
    deserved_ = share_out(session, kNoQueue);
    shares_.assign(accounts_.size(), {});
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      if (accounts_[q].has_jobs) refresh_share(q);
    }
  }

  int queue_order(const Session& session, QueueId a, QueueId b) const override {
    const std::int64_t left = session.queue(a).priority, right = session.queue(b).priority;
    if (left != right) return left > right ? -1 : 1;
    return Share::compare(shares_[a], shares_[b]);
  }

  bool overused(const Session& session, QueueId queue, Refusal& why) const override {
    // An empty cluster is not the queue's doing: let the nodes, of which there are none, be the
    // reason.
    if (session.node_order().empty() || !has_all(queue)) return false;
    const Resource& deserved = deserved_[queue];
    Shortage shortage(session.names());
    for (const Dim d : {kCpu, kMemory}) {
      shortage.add(d,
                   {{"allocated", accounts_[queue].allocated.at(d)}, {"deserved", deserved.at(d)}});
    }
    why = {"", "queue \"" + session.queue(queue).name.text() + "\" has all it deserves",
           shortage.figures(), codes::kQueueShare,
           shortage.facts("queue " + session.queue(queue).name.text())};
    name_bounds(session, queue, why);
    return true;
  }

  bool allocatable(const Session& session, QueueId queue, const TaskSpec& task,
                   Refusal& why) const override {
    if (session.node_order().empty()) return true;
    if (within(session, accounts_[queue], task.shape->request, deserved_[queue], "deserved", queue,
               why))
      return true;
    name_bounds(session, queue, why);
    return false;
  }

  bool preemptive(const Session& session, QueueId queue, const TaskSpec& task,
                  Refusal& why) const override {
    return within(session, accounts_[queue], task.shape->request, deserved_[queue], "deserved",
                  queue, why);
  }
  // As long as its queue has more than it deserves of anything.
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    std::map<QueueId, Resource> left;
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      const QueueId queue = session.queue_of(one.job);
      Resource& rest = left.try_emplace(queue, accounts_[queue].allocated).first->second;
      if (!exceeds(rest, deserved_[queue])) continue;
      rest -= session.task(one).spec->shape->request;
      out.push_back(one);
    }
    return out;
  }

  TaskRefs gang_evictable(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                          bool across_queues) const override {
    return across_queues ? *reclaimable(session, claimant, candidates) : candidates;
  }

  // What other queues hold beyond what they deserve, if this one stays within it.
  Resource freeable(const Session& session, JobId id) const override {
    Resource out;
    const JobInfo& job = session.job(id);
    const QueueId mine = session.queue_of(id);
    if (!session.reclaims() || !job.min_resources || mine == kNoQueue) return out;
    const QueueAccount& account = accounts_[mine];
    const Resource held =
        account.allocated + account.inqueue - account.elastic + *job.min_resources;
    const std::vector<Resource>& deserved = once_admitted(session, mine, held);
    if (exceeds(held, deserved[mine])) return out;
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      if (q == mine || !session.queue(q).reclaimable) continue;
      out += (accounts_[q].allocated - deserved[q]).clamped();
    }
    return out;
  }

  Vote may_enqueue(const Session& session, JobId job, Refusal& why) const override {
    const QueueId queue = session.queue_of(job);
    return vote_on_admission(session, accounts_[queue], queue, job,
                             session.preemptable_in_queue(job), why);
  }
  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (!job.min_resources || session.queue_of(id) == kNoQueue) return;
    accounts_[session.queue_of(id)].inqueue +=
        (*job.min_resources - job.gated_requests()).clamped();
  }

  // As capacity says it. What is deserved is what it will be once all jobs that wait ask.
  void say_why(const Session& session, JobId id, Circumstances& out) const override {
    const QueueId mine = session.queue_of(id);
    const Resource lacking = lacking_request(session, id);
    const Refusal* refusal = refusal_of(session, id);
    const bool by_own_limit = refusal != nullptr && refusal->code == codes::kQueueLimit &&
                              session.note(id).refused_admission;
    if (lacking.is_zero() || by_own_limit) return;
    const QueueAccount& account = accounts_[mine];
    const std::vector<Resource>& deserved = once_all_ask(session);
    std::vector<Held> held;
    if (!exceeds(only(account.allocated + lacking, lacking), deserved[mine])) {
      for (QueueId q = 0; q < accounts_.size(); ++q) {
        const Resource beyond = only((accounts_[q].allocated - deserved[q]).clamped(), lacking);
        if (q != mine && !beyond.is_zero()) held.push_back({q, beyond});
      }
      return say_beyond(session, held, out);
    }
    if (!session.reclaims()) return;
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      const Resource amounts = only(accounts_[q].allocated, lacking).clamped();
      if (q != mine && !amounts.is_zero()) held.push_back({q, amounts, only(deserved[q], amounts)});
    }
    Shortage shortage(session.names());
    for (Dim d = 0; d < lacking.dims(); ++d) {
      if (lacking.at(d) <= 0) continue;
      shortage.add(d, {{"requested", lacking.at(d)},
                       {"allocated", account.allocated.at(d)},
                       {"deserved", deserved[mine].at(d)}});
    }
    say_deserves_no_more(session, id, shortage, held, out);
  }

  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    accounts_[session.queue_of(job)].allocated += task.shape->request;
    refresh_share(session.queue_of(job));
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    accounts_[session.queue_of(job)].allocated -= task.shape->request;
    refresh_share(session.queue_of(job));
  }

  void measure(const Session& session, SessionFigures& out) const override {
    out.queues.assign(accounts_.size(), {});
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      const QueueAccount& account = accounts_[q];
      QueueFigures& one = out.queues[q];
      one.allocated = account.allocated;
      one.request = account.request;
      one.inqueue = account.inqueue;
      one.deserved = deserved_[q];
      one.weight = session.queue(q).weight;
      one.share = shares_[q];
      one.overused = account.has_jobs && !session.node_order().empty() && has_all(q);
    }
  }

 private:
  // That it deserves.
  bool has_all(QueueId queue) const {
    const Resource& deserved = deserved_[queue];
    for (Dim d = 0; d < deserved.dims(); ++d) {
      if (deserved.at(d) > accounts_[queue].allocated.at(d)) return false;
    }
    return true;
  }
  static bool exceeds(const Resource& allocated, const Resource& deserved) {
    for (Dim d = 0; d < allocated.dims(); ++d) {
      if (d != kPods && allocated.at(d) > deserved.at(d)) return true;
    }
    return false;
  }

  // Why the queue deserves no more of it: its capability, or that nobody else has any that he is
  // not guaranteed; otherwise its weight.
  void name_bounds(const Session& session, QueueId queue, Refusal& why) const {
    for (Shortfall& one : why.shortfalls) {
      const Dim d = session.names().find(one.resource).value_or(kPods);
      const std::int64_t own = session.queue(queue).capability.at(d);
      const bool capped = own != Bounds::kUnset && (own > 0 || (d != kCpu && d != kMemory));
      if (capped && own <= deserved_[queue].at(d)) {
        one.set_by = one.of;
        continue;
      }
      std::int64_t guaranteed = 0;
      bool by_weight = false;
      for (QueueId q = 0; q < accounts_.size(); ++q) {
        if (q == queue) continue;
        guaranteed = sum_of(guaranteed, session.guarantee(q).at(d));
        by_weight = by_weight || deserved_[q].at(d) > session.guarantee(q).at(d);
      }
      if (by_weight) continue;
      one.set_by = "cluster";
      one.guaranteed = guaranteed;
    }
  }

  // What every queue deserves by weight and demand. `newcomer` takes part, whoever has jobs.
  std::vector<Resource> share_out(const Session& session, QueueId newcomer) const {
    std::vector<Claimant> claimants;
    std::vector<QueueId> owners;
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      if (!accounts_[q].has_jobs && q != newcomer) continue;
      claimants.push_back({session.queue(q).weight, demands_[q], accounts_[q].real_capability,
                           session.guarantee(q)});
      owners.push_back(q);
    }
    water_fill(session.total(), claimants);
    std::vector<Resource> out(accounts_.size());
    for (std::size_t i = 0; i < owners.size(); ++i) out[owners[i]] = claimants[i].deserved;
    return out;
  }

  // What they would deserve if the queue asked for as much as it is to hold: a job that is not
  // admitted yet has no pods that would ask for it. Jobs of one kind ask one after the other.
  const std::vector<Resource>& once_admitted(const Session& session, QueueId queue,
                                             const Resource& held) const {
    if (accounts_[queue].has_jobs && held.fits_in(demands_[queue])) return deserved_;
    if (queue == asked_queue_ && held == asked_) return answer_;
    Resource demand = demands_[queue];
    for (Dim d = 0; d < held.dims(); ++d) demand.set(d, std::max(demand.at(d), held.at(d)));
    std::swap(demands_[queue], demand);
    answer_ = share_out(session, queue);
    std::swap(demands_[queue], demand);
    asked_queue_ = queue;
    asked_ = held;
    return answer_;
  }

  // What they would deserve if all that waits asked for its own, whether it is admitted or not, has
  // pods or not: the same for all who are told why they wait.
  const std::vector<Resource>& once_all_ask(const Session& session) const {
    if (!once_all_ask_.empty()) return once_all_ask_;
    std::vector<Resource> asked;
    for (const QueueAccount& account : accounts_) {
      const Resource promised = account.allocated + account.inqueue;
      Resource& one = asked.emplace_back(account.request);
      for (Dim d = 0; d < promised.dims(); ++d) one.set(d, std::max(one.at(d), promised.at(d)));
    }
    for (JobId id = 0; id < session.job_count(); ++id) {
      const JobInfo& job = session.job(id);
      if (!job.is_pending() || !job.min_resources || session.queue_of(id) == kNoQueue) continue;
      asked[session.queue_of(id)] += (*job.min_resources - job.allocated - job.pending).clamped();
    }
    std::swap(demands_, asked);
    once_all_ask_ = share_out(session, kNoQueue);
    std::swap(demands_, asked);
    return once_all_ask_;
  }

  void refresh_share(QueueId queue) {
    Share top;
    for (Dim d = 0; d < deserved_[queue].dims(); ++d) {
      const Share one(accounts_[queue].allocated.at(d), deserved_[queue].at(d));
      if (top < one) top = one;
    }
    shares_[queue] = top;
  }

  std::vector<QueueAccount> accounts_;
  mutable std::vector<Resource> demands_;  // by queue; as it was after every call
  std::vector<Resource> deserved_;
  mutable QueueId asked_queue_ = kNoQueue;
  mutable Resource asked_;
  mutable std::vector<Resource> answer_;
  mutable std::vector<Resource> once_all_ask_;  // empty: nobody has been told yet
  std::vector<Share> shares_;
};

}  // namespace

Result<PluginFactory> configure_proportion(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Proportion>(), enabled);
  });
}

}  // namespace krater::scheduler
