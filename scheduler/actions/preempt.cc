#include "scheduler/actions/preempt.h"

#include <algorithm>

#include "scheduler/actions/gang_claim.h"
#include "scheduler/actions/queue_line.h"
#include "scheduler/actions/starving.h"
#include "scheduler/eviction.h"
#include "scheduler/spare.h"

namespace krater::scheduler {
namespace {

EvictionRules rules(Session& session, bool within_job) {
  EvictionRules out;
  out.asking = Asking::Preempting;
  out.candidate = [&session, within_job](TaskRef claimant, TaskRef one) {
    if (session.queue_of(claimant.job) != session.queue_of(one.job)) return false;
    if ((claimant.job == one.job) != within_job) return false;
    // Who asks for nothing takes nothing from who asks for something.
    return !session.task(claimant).spec->shape->best_effort() ||
           session.task(one).spec->shape->best_effort();
  };
  out.allowed = [&session](TaskRef claimant, const TaskRefs& candidates) {
    return session.preemptable(claimant, candidates);
  };
  return out;
}

class Preemptor {
 public:
  explicit Preemptor(Session& session)
      : session_(session),
        between_jobs_(session, rules(session, false)),
        within_job_(session, rules(session, true)) {}

  // At the cost of other jobs.
  void serve(JobId job) {
    if (between_jobs_.exhausted()) {
      session_.note(job).put_off = true;
      return;
    }
    if (wants_domain(session_, job)) return;
    if (const std::string* known = between_jobs_.hopeless(job)) {
      tell_why_nobody_leaves(session_, job, *known);
    } else if (std::optional<TaskRef> denied; !take_from_others(job, denied)) {
      between_jobs_.give_up(job, denied);
    }
  }

  // A more important task for a lesser one of the same job; only where the gang stands, as for a
  // gang that does not an exchange is no gain.
  void exchange_within(JobId job) {
    const bool standing_only = session_.behaviors().preempt_within_standing_gangs;
    if (between_jobs_.exhausted() || wants_domain(session_, job)) return;
    if (standing_only && session_.job(job).ready_tasks() == 0) return;
    if (within_job_.hopeless(job) != nullptr) return;
    const std::deque<std::uint32_t> claiming = claiming_tasks(session_, job);
    for (const std::uint32_t t : waiting_tasks(session_, job)) {
      if (standing_only && !session_.job_starving(job)) return;
      Statement statement(session_);
      if (std::find(claiming.begin(), claiming.end(), t) == claiming.end()) {
        if (standing_only) continue;
        return;
      }
      const bool placed = within_job_.make_room(statement, {job, t});
      if (!placed || (standing_only && (!statement.evicts() || !session_.job_pipelined(job)))) {
        within_job_.give_up(job, std::nullopt);
        return;
      }
      if (statement.evicts()) {
        statement.commit_evictions(job, "preempt");
      } else {
        statement.keep();
      }
    }
  }

 private:
  // All that the gang needs, or nothing.
  bool take_from_others(JobId job, std::optional<TaskRef>& denied) {
    Statement statement(session_);
    const auto claim = [&](Statement& some, const std::deque<std::uint32_t>& tasks,
                           const std::function<bool()>& enough) {
      make_room(some, job, tasks, enough, denied);
    };
    if (!claim_for_gang(session_, statement, job, claiming_tasks(session_, job), claim) ||
        !statement.evicts())
      return false;
    if (session_.behaviors().spare_unneeded_victims) spare_needless(session_, statement);
    statement.commit_evictions(job, "preempt");
    return true;
  }

  void make_room(Statement& statement, JobId job, const std::deque<std::uint32_t>& tasks,
                 const std::function<bool()>& enough, std::optional<TaskRef>& denied) {
    std::set<const NodeBoard*> unfit;
    for (const std::uint32_t t : tasks) {
      const TaskRef task{job, t};
      NodeBoard& board = session_.board(task);
      if (unfit.contains(&board)) continue;
      // A place that is free is backfill's to give.
      if (board.shape().best_effort() && board.best_idle() != kNoNode) continue;
      if (!between_jobs_.make_room(statement, task)) {
        unfit.insert(&board);
        if (!denied) denied = task;
      } else if (enough()) {
        return;
      }
    }
  }

  Session& session_;
  EvictionPlanner between_jobs_, within_job_;
};

}  // namespace

void preempt(Session& session) {
  std::map<QueueId, Heap<JobId>> starving = starving_jobs(session);
  if (starving.empty() || session.plugins().preemptable.empty()) return;
  Preemptor preemptor(session);
  QueueLine queues(session);
  for (const auto& [queue, jobs] : starving) queues.push(queue);
  while (!queues.empty()) {
    Heap<JobId>& jobs = starving.at(queues.pop());
    std::vector<JobId> served;
    while (!jobs.empty()) {
      served.push_back(jobs.pop());
      preemptor.serve(served.back());
    }
    for (const JobId job : served) preemptor.exchange_within(job);
  }
}

}  // namespace krater::scheduler
