#include "scheduler/actions/gang_evict.h"

#include <algorithm>

#include "scheduler/actions/gang_claim.h"
#include "scheduler/actions/queue_line.h"
#include "scheduler/actions/starving.h"
#include "scheduler/amounts.h"
#include "scheduler/eviction.h"
#include "scheduler/protection.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// More victims than this are not looked through for some that could stay.
constexpr std::size_t kSpareAtMost = 256;
// Gangs that are tried in one session.
constexpr int kTries = 64;
constexpr std::int64_t kMillion = 1'000'000;

// What comes free for a gang, and what is lost for it, as sums of parts of what it needs.
struct Worth {
  std::int64_t freed = 0, lost = 0;  // in millionths
  bool more_than(const Worth& other) const {
    __extension__ using Wide = __int128;
    return static_cast<Wide>(freed) * other.lost > static_cast<Wide>(other.freed) * lost;
  }
};

// One task beyond its job's minimum (where nobody is spared: all of them), or a gang as a whole.
struct Bundle {
  TaskRefs tasks{};
  bool whole = false;
  Worth worth{};  // of whole ones, where they go by it
};

class GangEvictor {
 public:
  GangEvictor(Session& session, bool across_queues)
      : session_(session), across_queues_(across_queues) {
    session_.load_all();
    const auto given = session_.config().gang_eviction.find(session_.action());
    if (given != session_.config().gang_eviction.end()) rules_ = given->second;
  }

  void serve(JobId job) {
    if (++tries_ > kTries) {
      session_.note(job).put_off = true;
      return;
    }
    if (!try_to_take(job)) tell_who_is_kept(job);
  }

 private:
  bool try_to_take(JobId job) {
    std::vector<std::vector<Domain>> groups = session_.domains_for(job);
    if (groups.empty()) return take(job, nullptr);
    if (!session_.behaviors().gang_eviction_nearest_first)
      std::reverse(groups.begin(), groups.end());
    std::int64_t left = rules_.max_domains;
    bool done = false;
    for (const std::vector<Domain>& group : groups) {
      for (const Domain& domain : group) {
        if (done || left == 0) break;
        --left;
        session_.confine(job, &domain);
        done = take(job, &domain.nodes);
      }
    }
    session_.confine(job, nullptr);
    return done;
  }

  void tell_who_is_kept(JobId job) {
    const std::deque<std::uint32_t> tasks = waiting_tasks(session_, job);
    if (tasks.empty()) return;
    const TaskRef claimant{job, tasks.front()};
    const NodeBoard& board = session_.board(claimant);
    TaskRefs all;
    for (const NodeSlot slot : session_.node_order()) {
      if (!board.may_take(slot)) continue;
      for (const TaskRef& one : session_.residents(slot)) {
        if (in_question(job, one)) all.push_back(one);
      }
    }
    tell_why_nobody_leaves(session_, job, who_is_kept(session_, claimant, all, asking()));
  }

  Asking asking() const { return across_queues_ ? Asking::GangReclaiming : Asking::GangPreempting; }

  bool candidate(JobId claimant, TaskRef one) const {
    return in_question(claimant, one) && lets_itself_go(session_, one);
  }
  // Whether or not it says of itself that it does not go.
  bool in_question(JobId claimant, TaskRef one) const {
    const Task& task = session_.task(one);
    const JobInfo& job = session_.job(one.job);
    if (!holds_place(task.status) || one.job == claimant || !session_.has_node(task.node))
      return false;
    const QueueId from = session_.queue_of(one.job), to = session_.queue_of(claimant);
    if (across_queues_) {
      return from != to && session_.queue(from).reclaimable &&
             (session_.behaviors().reclaim_takes_bound_pods || task.status == TaskStatus::Running);
    }
    return from == to && job.priority < session_.job(claimant).priority;
  }

  // Everybody in the domain who may go, each alone as long as his gang stands without him, else
  // with his gang. The lesser ones first (or, of a queue's gangs, those of which most comes free
  // for what is lost); whole gangs last, or after those of their rank.
  std::vector<Bundle> bundles(JobId claimant, const std::vector<bool>* nodes) {
    std::map<JobId, TaskRefs> by_job;
    for (const NodeSlot slot : session_.node_order()) {
      if (nodes != nullptr && !(*nodes)[slot]) continue;
      for (const TaskRef& one : session_.residents(slot)) {
        if (candidate(claimant, one)) by_job[one.job].push_back(one);
      }
    }
    std::vector<Bundle> out;
    for (auto& [job, tasks] : by_job) split(claimant, job, std::move(tasks), out);
    const bool by_worth = across_queues_ && !session_.behaviors().least_cost_victims;
    if (by_worth) tell_worth(claimant, nodes, out);
    const QueueId queue = session_.queue_of(claimant);
    std::stable_sort(out.begin(), out.end(), [&](const Bundle& a, const Bundle& b) {
      const TaskRef left = a.tasks.front(), right = b.tasks.front();
      if (rules_.priority_first) {
        if (session_.queue_of(left.job) != session_.queue_of(right.job))
          return session_.leaves_before(left, right, queue);
        const std::int64_t mine = session_.job(left.job).priority;
        const std::int64_t other = session_.job(right.job).priority;
        if (mine != other) return mine < other;
      }
      if (a.whole != b.whole) return b.whole;
      if (by_worth && session_.queue_of(left.job) == session_.queue_of(right.job)) {
        if (a.worth.more_than(b.worth) || b.worth.more_than(a.worth))
          return a.worth.more_than(b.worth);
        if (left.job != right.job) return session_.job(left.job).key < session_.job(right.job).key;
      }
      return session_.leaves_before(left, right, queue);
    });
    return out;
  }

  void tell_worth(JobId claimant, const std::vector<bool>* nodes, std::vector<Bundle>& all) const {
    Resource need;
    for (const std::uint32_t t : waiting_tasks(session_, claimant))
      need += session_.task({claimant, t}).spec->shape->request;
    for (Bundle& bundle : all) {
      if (!bundle.whole) continue;
      Resource freed, lost;
      for (const TaskRef& one : bundle.tasks) {
        const Task& task = session_.task(one);
        if (nodes == nullptr || (*nodes)[task.node]) freed += task.spec->shape->request;
      }
      for (const Task& task : session_.job(bundle.tasks.front().job).tasks)
        lost += task.spec->shape->request;
      for (Dim d = 0; d < need.dims(); ++d) {
        if (need.at(d) <= 0) continue;
        Worth& worth = bundle.worth;
        worth.freed =
            sum_of(worth.freed, scale(kMillion, std::min(freed.at(d), need.at(d)), need.at(d)));
        worth.lost = sum_of(worth.lost, scale(kMillion, lost.at(d), need.at(d)));
      }
    }
  }

  void split(JobId claimant, JobId job, TaskRefs tasks, std::vector<Bundle>& out) {
    std::sort(tasks.begin(), tasks.end(), [&](TaskRef a, TaskRef b) {
      return session_.leaves_before(a, b, session_.queue_of(claimant));
    });
    Statement trial(session_);
    const bool stood = gang_stands(session_.job(job));
    TaskRefs safe, needed;
    for (const TaskRef& one : tasks) {
      const Statement::Mark mark = trial.mark();
      trial.evict(one);
      if (!stood || gang_stands(session_.job(job))) {
        safe.push_back(one);
      } else {
        trial.roll_back(mark);
        needed.push_back(one);
      }
    }
    if (session_.behaviors().spare_unneeded_victims) {
      for (const TaskRef& one : safe) out.push_back({{one}});
    } else if (!safe.empty()) {
      out.push_back({safe});
    }
    if (needed.empty() || !rules_.whole_gangs) return;
    if (!session_.behaviors().whole_gang_eviction) return out.push_back({needed, true});
    Bundle gang{{}, true};
    const std::vector<Task>& all = session_.job(job).tasks;
    for (std::uint32_t t = 0; t < all.size(); ++t) {
      if (!holds_place(all[t].status)) continue;
      const TaskRef one{job, t};
      if (!candidate(claimant, one) || session_.guarded(*all[t].spec)) return;
      gang.tasks.push_back(one);
    }
    if (session_.job(job).count(TaskStatus::Binding) > 0 || gang.tasks.empty()) return;
    out.push_back(std::move(gang));
  }

  // With those that could have gone alone, as far as they are still there.
  TaskRefs members(JobId job) const {
    TaskRefs out;
    for (std::uint32_t t = 0; t < session_.job(job).tasks.size(); ++t) out.push_back({job, t});
    return out;
  }

  // All of it goes, or nothing: what went before counts.
  bool evict(Statement& statement, TaskRef claimant, const Bundle& bundle) {
    TaskRefs left;
    const bool with_all = bundle.whole && session_.behaviors().whole_gang_eviction;
    for (const TaskRef& one : with_all ? members(bundle.tasks.front().job) : bundle.tasks) {
      if (holds_place(session_.task(one).status)) left.push_back(one);
    }
    if (left.empty()) return false;
    const TaskRefs allowed = session_.gang_evictable(claimant, left, across_queues_);
    if (bundle.whole ? allowed.size() != left.size() : allowed.empty()) return false;
    const PluginPlaces by = offered_by(session_, claimant, left, asking());
    for (const TaskRef& one : allowed) statement.evict(one, by);
    return true;
  }

  // Promises room to as many tasks as the gang needs; false, and nothing done, when it is not
  // there.
  bool place(Statement& statement, JobId job, const std::deque<std::uint32_t>& tasks) {
    const Statement::Mark mark = statement.mark();
    const bool complete = claim_for_gang(
        session_, statement, job, tasks,
        [&](Statement& some, const std::deque<std::uint32_t>& next,
            const std::function<bool()>& enough) { promise(some, job, next, enough); });
    if (complete && statement.mark() > mark) return true;
    statement.roll_back(mark);
    return false;
  }

  void promise(Statement& statement, JobId job, const std::deque<std::uint32_t>& tasks,
               const std::function<bool()>& enough) {
    std::set<const NodeBoard*> unfit;
    for (const std::uint32_t t : tasks) {
      const TaskRef task{job, t};
      NodeBoard& board = session_.board(task);
      Refusal why;
      if (unfit.contains(&board) ||
          !session_.allocatable(session_.queue_of(job), *session_.task(task).spec, why)) {
        continue;
      }
      NodeSlot node = board.best_idle();
      if (node == kNoNode) node = board.best_future();
      if (node == kNoNode) {
        unfit.insert(&board);
      } else {
        statement.pipeline(task, node);
        if (enough()) return;
      }
    }
  }

  // What the gang still needs, at least, is free or leaving.
  bool could_hold(JobId job, const std::vector<bool>* nodes) const {
    Resource free;
    for (const NodeSlot slot : session_.node_order()) {
      if (nodes == nullptr || (*nodes)[slot]) free += session_.node(slot).future_idle().clamped();
    }
    const JobInfo& info = session_.job(job);
    Resource need;
    std::int64_t missing = info.min_member - info.ready_tasks() - info.waiting_tasks();
    for (const std::uint32_t t : waiting_tasks(session_, job)) {
      if (missing-- <= 0) break;
      need += info.tasks[t].spec->shape->request;
    }
    return need.fits_in(free);
  }

  bool take(JobId job, const std::vector<bool>* nodes) {
    const std::deque<std::uint32_t> tasks = claiming_tasks(session_, job);
    if (tasks.empty()) return false;
    const TaskRef claimant{job, tasks.front()};
    const std::vector<Bundle> all = bundles(job, nodes);
    Statement statement(session_);
    // What needs no eviction is allocate's to give.
    if (place(statement, job, tasks)) return true;  // undone with the statement
    std::vector<Bundle> gone;
    bool enough = false;
    for (const Bundle& bundle : all) {
      if (!evict(statement, claimant, bundle)) continue;
      gone.push_back(bundle);
      if (could_hold(job, nodes) && place(statement, job, tasks)) {
        enough = true;
        break;
      }
    }
    if (!enough) return false;
    if (session_.behaviors().spare_unneeded_victims && gone.size() <= kSpareAtMost &&
        !spare(statement, job, tasks, std::move(gone))) {
      return false;
    }
    statement.commit_evictions(job, session_.action());
    return true;
  }

  // Whoever is not needed in the end stays; the most valuable is asked first.
  bool spare(Statement& statement, JobId job, const std::deque<std::uint32_t>& tasks,
             std::vector<Bundle> gone) {
    for (std::size_t i = gone.size(); i-- > 0 && gone.size() > 1;) {
      Bundle spared = std::move(gone[i]);
      gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(i));
      if (again(statement, job, tasks, gone)) continue;
      gone.insert(gone.begin() + static_cast<std::ptrdiff_t>(i), std::move(spared));
    }
    return again(statement, job, tasks, gone);
  }

  bool again(Statement& statement, JobId job, const std::deque<std::uint32_t>& tasks,
             const std::vector<Bundle>& gone) {
    const TaskRef claimant{job, tasks.front()};
    statement.roll_back(0);
    for (const Bundle& bundle : gone) {
      if (!evict(statement, claimant, bundle)) return false;
    }
    return place(statement, job, tasks);
  }

  Session& session_;
  const bool across_queues_;
  GangEvictionRules rules_{};
  int tries_ = 0;
};

// The whole of what the gang still asks for is within what its queue may take from others.
bool may_take_all(Session& session, QueueId queue, JobId job) {
  PodShape sum;
  for (const std::uint32_t t : waiting_tasks(session, job))
    sum.request += session.job(job).tasks[t].spec->shape->request;
  TaskSpec all;
  all.shape = std::make_shared<const PodShape>(std::move(sum));
  Refusal why;
  if (session.preemptive(queue, all, why)) return true;
  // Its own limit, and that it takes no jobs at all, is said where it is met.
  if (why.code != codes::kQueueLimit && why.code != codes::kQueueTree)
    tell_why_nobody_leaves(session, job, why.message + " (" + why.figures + ")");
  return false;
}

void evict_for_gangs(Session& session, bool across_queues) {
  std::map<QueueId, Heap<JobId>> starving = starving_jobs(session);
  if (starving.empty()) return;
  GangEvictor evictor(session, across_queues);
  QueueLine queues(session);
  for (const auto& [queue, jobs] : starving) queues.push(queue);
  while (!queues.empty()) {
    const QueueId queue = queues.pop();
    Heap<JobId>& jobs = starving.at(queue);
    if (jobs.empty()) continue;
    Refusal why;
    if (across_queues && session.overused(queue, why)) continue;
    const JobId job = jobs.pop();
    if (!across_queues || may_take_all(session, queue, job)) evictor.serve(job);
    queues.push(queue);
  }
}

}  // namespace

void gang_preempt(Session& session) {
  evict_for_gangs(session, /*across_queues=*/false);
}

void gang_reclaim(Session& session) {
  evict_for_gangs(session, /*across_queues=*/true);
}

}  // namespace krater::scheduler
