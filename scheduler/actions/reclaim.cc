#include "scheduler/actions/reclaim.h"

#include <algorithm>

#include "scheduler/actions/gang_claim.h"
#include "scheduler/actions/queue_line.h"
#include "scheduler/actions/starving.h"
#include "scheduler/eviction.h"
#include "scheduler/spare.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

EvictionRules rules(Session& session) {
  EvictionRules out;
  out.asking = Asking::Reclaiming;
  out.candidate = [&session](TaskRef claimant, TaskRef one) {
    const QueueId from = session.queue_of(one.job);
    return from != session.queue_of(claimant.job) && session.queue(from).reclaimable &&
           (session.behaviors().reclaim_takes_bound_pods ||
            session.task(one).status == TaskStatus::Running);
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
    } else if (wants_domain(session_, job)) {
      // Room in one domain is gangreclaim's to make.
    } else if (const std::string* known = planner_.hopeless(job)) {
      tell_why_nobody_leaves(session_, job, *known);
    } else if (Denied denied; !take(queue, job, denied)) {
      planner_.give_up(
          job, denied.by_others,
          denied.by_its_queue ? share_used(queue, job, *denied.by_its_queue) : std::string());
    }
  }

 private:
  // The first of its tasks that its queue may not take more for; for which nobody could leave.
  struct Denied {
    std::optional<TaskRef> by_its_queue{}, by_others{};
  };

  bool take(QueueId queue, JobId job, Denied& denied) {
    Statement statement(session_);
    const auto claim = [&](Statement& some, const std::deque<std::uint32_t>& tasks,
                           const std::function<bool()>& enough) {
      make_room(some, queue, job, tasks, enough, denied);
    };
    if (!claim_for_gang(session_, statement, job, claiming_tasks(session_, job), claim) ||
        !statement.evicts())
      return false;
    if (session_.behaviors().spare_unneeded_victims) spare_needless(session_, statement);
    statement.commit_evictions(job, "reclaim");
    return true;
  }

  void make_room(Statement& statement, QueueId queue, JobId job,
                 const std::deque<std::uint32_t>& tasks, const std::function<bool()>& enough,
                 Denied& denied) {
    std::set<const NodeBoard*> unfit;
    for (const std::uint32_t t : tasks) {
      const TaskRef task{job, t};
      const NodeBoard* board = &session_.board(task);
      if (unfit.contains(board)) continue;
      if (Refusal why; !session_.preemptive(queue, *session_.task(task).spec, why)) {
        if (!denied.by_its_queue) denied.by_its_queue = task;
        unfit.insert(board);
        continue;
      }
      if (!planner_.make_room(statement, task)) {
        unfit.insert(board);
        if (!denied.by_others) denied.by_others = task;
      } else if (enough()) {
        return;
      }
    }
  }

  // That its queue may take no more matters only where somebody else has what the task could use,
  // and nothing is free. The figures are those of all that the gang still needs, before anything
  // was tried.
  std::string share_used(QueueId queue, JobId job, TaskRef task) {
    NodeBoard& board = session_.board(task);
    if (board.best_idle() != kNoNode || board.best_future() != kNoNode) return {};
    if (planner_.in_the_way(task).empty()) return {};
    const JobInfo& info = session_.job(job);
    std::int64_t missing =
        std::max<std::int64_t>(info.min_member - info.ready_tasks() - info.waiting_tasks(), 1);
    PodShape sum;
    for (const std::uint32_t t : waiting_tasks(session_, job)) {
      if (missing-- > 0) sum.request += info.tasks[t].spec->shape->request;
    }
    TaskSpec needed;
    needed.shape = std::make_shared<const PodShape>(std::move(sum));
    Refusal why;
    // Its own limit, and that it takes no jobs at all, is said where it is met.
    if (session_.preemptive(queue, needed, why) || why.code == codes::kQueueLimit ||
        why.code == codes::kQueueTree) {
      return {};
    }
    return why.message + " (" + why.figures + ")";
  }

  Session& session_;
  EvictionPlanner planner_;
};

}  // namespace

void reclaim(Session& session) {
  std::map<QueueId, Heap<JobId>> starving = starving_jobs(session);
  if (starving.empty() || session.plugins().reclaimable.empty()) return;
  Reclaimer reclaimer(session);
  QueueLine queues(session);
  for (const auto& [queue, jobs] : starving) queues.push(queue);
  while (!queues.empty()) {
    const QueueId queue = queues.pop();
    Heap<JobId>& jobs = starving.at(queue);
    if (jobs.empty()) continue;
    if (Refusal why; session.overused(queue, why)) continue;
    do {
      reclaimer.serve(queue, jobs.pop());
    } while (!session.behaviors().reclaim_rechecks_queue && !jobs.empty());
    queues.push(queue);
  }
}

}  // namespace krater::scheduler
