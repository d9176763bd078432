#include "scheduler/actions/reclaim.h"

#include "scheduler/actions/gang_claim.h"
#include "scheduler/actions/starving.h"
#include "scheduler/eviction.h"

namespace krater::scheduler {
namespace {

EvictionRules rules(Session& session) {
  EvictionRules out;
  out.candidate = [&session](TaskRef claimant, TaskRef one) {
    const QueueId from = session.queue_of(one.job);
    return from != session.queue_of(claimant.job) && session.queue(from).reclaimable;
  };
  out.allowed = [&session](TaskRef claimant, const TaskRefs& candidates) {
    return session.reclaimable(claimant, candidates);
  };
  // What falls with its gang beyond what was asked for stays its queue's to use.
  out.companions_allowed = false;
  return out;
}

class Reclaimer {
 public:
  explicit Reclaimer(Session& session) : session_(session), planner_(session, rules(session)) {}

  void serve(QueueId queue, JobId job) {
    if (planner_.exhausted()) {
      session_.note(job).put_off = true;
    } else if (!wants_domain(session_, job) && !planner_.hopeless(job) && !take(queue, job)) {
      planner_.give_up(job);
    }
  }

 private:
  bool take(QueueId queue, JobId job) {
    Statement statement(session_);
    const auto claim = [&](Statement& some, const std::deque<std::uint32_t>& tasks,
                           const std::function<bool()>& enough) {
      make_room(some, queue, job, tasks, enough);
    };
    if (!claim_for_gang(session_, statement, job, claim) || !statement.evicts()) return false;
    statement.commit_evictions(job, "reclaim");
    return true;
  }

  void make_room(Statement& statement, QueueId queue, JobId job,
                 const std::deque<std::uint32_t>& tasks, const std::function<bool()>& enough) {
    std::set<const NodeBoard*> unfit;
    for (const std::uint32_t t : tasks) {
      const TaskRef task{job, t};
      const NodeBoard* board = &session_.board(task);
      if (unfit.contains(board) || !may_claim(session_, task)) continue;
      if (Refusal why; !session_.preemptive(queue, *session_.task(task).spec, why)) {
        session_.note(job).no_eviction = why.message + " (" + why.figures + ")";
        unfit.insert(board);
        continue;
      }
      if (!planner_.make_room(statement, task)) {
        unfit.insert(board);
      } else if (enough()) {
        return;
      }
    }
  }

  Session& session_;
  EvictionPlanner planner_;
};

}  // namespace

void reclaim(Session& session) {
  std::map<QueueId, Heap<JobId>> starving = starving_jobs(session);
  if (starving.empty() || session.plugins().reclaimable.empty()) return;
  Reclaimer reclaimer(session);
  Heap<QueueId> queues([&](QueueId a, QueueId b) { return session.queue_before(a, b); });
  for (const auto& [queue, jobs] : starving) queues.push(queue);
  while (!queues.empty()) {
    const QueueId queue = queues.pop();
    Heap<JobId>& jobs = starving.at(queue);
    if (jobs.empty()) continue;
    if (Refusal why; session.overused(queue, why)) continue;
    reclaimer.serve(queue, jobs.pop());
    queues.push(queue);
  }
}

}  // namespace krater::scheduler
