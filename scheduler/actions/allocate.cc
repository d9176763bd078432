#include "scheduler/actions/allocate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "scheduler/actions/backfill.h"
#include "scheduler/actions/job_filter.h"
#include "scheduler/actions/job_line.h"
#include "scheduler/actions/queue_gates.h"
#include "scheduler/actions/queue_line.h"
#include "scheduler/actions/sub_group_placer.h"
#include "scheduler/statement.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// Whether going on with the job's other tasks makes sense after tasks of `failed` roles found no
// node.
bool worth_going_on(const JobInfo& job, const Task& last, const std::set<std::string>& failed) {
  if (job.min_member == static_cast<std::int64_t>(job.tasks.size())) return false;
  if (job.sub_group_policies) {
    const SubGroup& group = job.sub_groups[last.sub_group];
    return group.size < group.tasks;
  }
  if (!job.roles_bind()) {
    std::int64_t reachable = job.ready_tasks();
    for (const Task& task : job.tasks) {
      if (task.status == TaskStatus::Pending && !failed.contains(task.spec->role)) ++reachable;
    }
    return reachable >= job.min_member;
  }
  const auto have = job.by_role([](const Task& task) {
    return is_allocated(task.status) || task.status == TaskStatus::Succeeded;
  });
  return std::all_of(failed.begin(), failed.end(), [&](const std::string& role) {
    const auto minimum = job.role_minimums.find(role);
    const auto count = have.find(role);
    return minimum == job.role_minimums.end() ||
           (count == have.end() ? 0 : count->second) >= minimum->second;
  });
}

class Allocator {
 public:
  explicit Allocator(Session& session) : session_(session), queues_(session) {}

  void run() {
    collect();
    if (session_.behaviors().sla_holds_room) serve_overdue();
    if (session_.behaviors().nominated_room_first) serve_nominated();
    line_up();
    while (!queues_.empty()) {
      const QueueId queue = queues_.pop();
      JobLine& jobs = jobs_.at(queue);
      if (jobs.empty()) continue;
      if (Refusal why; session_.overused(queue, why)) {
        while (!jobs.empty()) session_.note(jobs.pop()).refusal = why;
        continue;
      }
      const JobId job = jobs.pop();
      if (take_turn(queue, job)) jobs.push(job);
      if (session_.fifo(queue) && !session_.job_ready(job)) {
        while (!jobs.empty()) session_.note(jobs.pop()).refusal = behind(session_, queue, job);
      }
      queues_.push(queue);
    }
  }

 private:
  // Only one: two that hold half of what they need would wait for each other.
  void serve_overdue() {
    std::optional<std::pair<WallTime, JobId>> first;
    for (const auto& [job, tasks] : tasks_) {
      const auto since = session_.overdue_since(job);
      if (since && !session_.job_ready(job) && (!first || *since < first->first))
        first = std::pair(*since, job);
    }
    if (!first) return;
    const JobId job = first->second;
    held_ = job;
    take_turn(session_.queue_of(job), job);
    // It takes its turn among the others as well, for what goes beyond its gang.
    if (session_.job_ready(job)) return;
    tasks_.at(job).clear();
    session_.note(job).put_off = true;
  }

  // Those for whom others had to leave come before those who left and are back for the room,
  // whoever's turn it would be. Who is more important in their queue still goes first.
  void serve_nominated() {
    std::map<QueueId, std::int64_t> least;  // priority of one that was promised room
    for (const auto& [job, tasks] : tasks_) {
      if (session_.job_ready(job) || !finds_its_room(job, tasks)) continue;
      const std::int64_t priority = session_.job(job).priority;
      const auto [place, fresh] = least.try_emplace(session_.queue_of(job), priority);
      if (!fresh) place->second = std::min(place->second, priority);
    }
    std::vector<QueueId> order;
    for (const auto& [queue, priority] : least) order.push_back(queue);
    std::sort(order.begin(), order.end(),
              [this](QueueId a, QueueId b) { return session_.queue_before(a, b); });
    for (const QueueId queue : order) {
      Refusal why;
      if (session_.overused(queue, why)) continue;
      std::vector<JobId>& jobs = waiting_.at(queue);
      std::sort(jobs.begin(), jobs.end(),
                [this](JobId a, JobId b) { return session_.job_before(a, b); });
      std::vector<JobId> later;
      for (auto next = jobs.begin(); next != jobs.end(); ++next) {
        const JobId job = *next;
        const bool first = session_.job(job).priority > least.at(queue) ||
                           (!session_.job_ready(job) && finds_its_room(job, tasks_.at(job)));
        const bool done = first && !take_turn(queue, job);
        if (!done) later.push_back(job);
        if (!session_.fifo(queue) || (first && session_.job_ready(job))) continue;
        // Where order is kept, whoever is behind a job that is not complete waits.
        if (done) {
          std::for_each(std::next(next), jobs.end(), [&](JobId other) {
            session_.note(other).refusal = behind(session_, queue, job);
          });
        } else {
          later.insert(later.end(), std::next(next), jobs.end());
        }
        break;
      }
      jobs = std::move(later);
    }
  }

  // One of them was promised room on a node that has some for it, now or soon.
  bool finds_its_room(JobId job, const std::deque<std::uint32_t>& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](std::uint32_t t) {
      const TaskSpec& spec = *session_.job(job).tasks[t].spec;
      if (spec.nominated.empty()) return false;
      const NodeSlot node = session_.find_node(spec.nominated);
      return node != kNoNode && session_.board({job, t}).fits_future(node);
    });
  }

  void collect() {
    const bool admission = session_.config().has_action("enqueue");
    for (JobId job = 0; job < session_.job_count(); ++job) {
      const JobInfo& info = session_.job(job);
      if (!info.known || session_.parked(job)) continue;
      if (info.is_pending()) {
        if (admission) continue;
        if (session_.queue_of(job) == kNoQueue) {
          session_.note(job).refusal = queue_refusal(session_, job);
          continue;
        }
        session_.admit(job);
      }
      std::deque<std::uint32_t> tasks = pending_tasks(session_.job(job));
      if (tasks.empty() || refused_as_a_whole(session_, job)) continue;
      tasks_.emplace(job, std::move(tasks));
      waiting_[session_.queue_of(job)].push_back(job);
    }
  }

  void line_up() {
    for (const auto& [queue, jobs] : waiting_) {
      JobLine& line = jobs_.try_emplace(queue, session_).first->second;
      for (const JobId job : jobs) line.push(job);
      queues_.push(queue);
    }
  }

  std::deque<std::uint32_t> pending_tasks(const JobInfo& job) const {
    std::deque<std::uint32_t> out;
    for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
      const Task& task = job.tasks[t];
      if (task.status == TaskStatus::Pending && !task.spec->gated &&
          !task.spec->shape->best_effort()) {
        out.push_back(t);
      }
    }
    std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return session_.task_before(*job.tasks[a].spec, *job.tasks[b].spec);
    });
    return out;
  }

  // One turn of a job. True when it has tasks left to try.
  bool take_turn(QueueId queue, JobId job) {
    const std::vector<std::vector<Domain>> groups = session_.domains_for(job);
    if (groups.empty()) return place_gang(queue, job);
    Closest closest;
    for (const std::vector<Domain>& group : groups) {
      const Domain* best = best_domain(queue, job, group, closest);
      if (best == nullptr) continue;
      session_.note(job).fit_errors.clear();
      session_.confine(job, best);
      const bool more = place_gang(queue, job);
      session_.confine(job, nullptr);
      return more;
    }
    if (closest.domain != nullptr) tell_of(queue, job, *closest.domain);
    if (session_.note(job).fit_errors.empty() && session_.note(job).queue_errors.empty()) {
      session_.note(job).refusal = {"", "no HyperNode of an allowed tier has room for the gang", "",
                                    codes::kNoNode};
    }
    return false;
  }

  // The first of the domains in which most of a gang found a place.
  struct Closest {
    const Domain* domain = nullptr;
    std::int64_t reach = -1;
  };

  // Where the job's gang would find room as a whole; null: nowhere. Changes nothing.
  const Domain* best_domain(QueueId queue, JobId job, const std::vector<Domain>& group,
                            Closest& closest) {
    const Domain* best = nullptr;
    std::pair<bool, std::int64_t> best_score{};
    for (const Domain& domain : group) {
      session_.confine(job, &domain);
      std::deque<std::uint32_t> tasks = tasks_.at(job);
      Statement trial(session_);
      std::set<const NodeBoard*> unfit;
      place_members(trial, queue, job, tasks, unfit);
      const bool counted = session_.job_ready(job);
      const bool ready = counted && complete(trial, job);
      const bool works = !trial.empty() && (ready || (!counted && session_.job_pipelined(job)));
      if (const std::int64_t reach = placed(job); reach > closest.reach) closest = {&domain, reach};
      trial.roll_back(0);
      const std::pair score(ready, domain.score);
      if (works && (best == nullptr || score > best_score)) {
        best = &domain;
        best_score = score;
      }
    }
    session_.confine(job, nullptr);
    return best;
  }

  std::int64_t placed(JobId job) const {
    return session_.job(job).ready_tasks() + session_.job(job).waiting_tasks();
  }

  // No domain takes it: what is told of it is what stands in the way in this one.
  void tell_of(QueueId queue, JobId job, const Domain& domain) {
    session_.note(job).fit_errors.clear();
    session_.confine(job, &domain);
    std::deque<std::uint32_t> tasks = tasks_.at(job);
    Statement trial(session_);
    std::set<const NodeBoard*> unfit;
    place_members(trial, queue, job, tasks, unfit);
    if (session_.job_ready(job)) complete(trial, job);
    give_up(trial, job, unfit);
    session_.confine(job, nullptr);
  }

  // Until the job is ready, as far as there is room. What was tried is taken out of `tasks`; of a
  // job with sub-groups, what was placed.
  void place_members(Statement& statement, QueueId queue, JobId job,
                     std::deque<std::uint32_t>& tasks, std::set<const NodeBoard*>& unfit) {
    const auto ready = [this, job] { return session_.job_ready(job); };
    if (!session_.job(job).sub_group_policies)
      return place_tasks(statement, queue, job, tasks, unfit, ready);
    SubGroupPlacing how;
    how.satisfied = ready;
    // Each may go elsewhere: what fits nowhere in one domain may fit in the next.
    how.place_some = [&](Statement& some, std::deque<std::uint32_t>& of_group,
                         const std::function<bool()>& enough) {
      std::set<const NodeBoard*> here;
      place_tasks(some, queue, job, of_group, here, enough);
      unfit.insert(here.begin(), here.end());
    };
    SubGroupPlacer(session_, job, std::move(how)).place(statement, tasks);
  }

  void place_tasks(Statement& statement, QueueId queue, JobId job, std::deque<std::uint32_t>& tasks,
                   std::set<const NodeBoard*>& unfit, const std::function<bool()>& enough) {
    std::set<std::string> failed;  // roles
    while (!tasks.empty()) {
      const TaskRef ref{job, tasks.front()};
      const TaskSpecPtr spec = session_.task(ref).spec;
      tasks.pop_front();
      if (Refusal why; !session_.allocatable(queue, *spec, why)) {
        session_.note(job).queue_errors[ref.task] = std::move(why);
        continue;
      }
      NodeBoard& board = session_.board(ref);
      if (unfit.contains(&board)) {
        session_.note(job).fit_errors[ref.task] = board.explain();
        continue;
      }
      if (!place(statement, ref, *spec, board)) {
        unfit.insert(&board);
        failed.insert(spec->role);
        if (worth_going_on(session_.job(job), session_.task(ref), failed)) continue;
        break;
      }
      if (enough()) break;
    }
  }

  bool place_gang(QueueId queue, JobId job) {
    std::deque<std::uint32_t>& tasks = tasks_.at(job);
    Statement statement(session_);
    std::set<const NodeBoard*> unfit;  // one that fits nowhere is not tried again within the turn
    place_members(statement, queue, job, tasks, unfit);
    const bool counted = session_.job_ready(job);
    if (counted && complete(statement, job)) {
      if (statement.empty()) return false;
      statement.commit(job);
      return !tasks.empty();
    }
    // Enough only once somebody has left: the places stay taken until the session ends.
    if (!counted && (session_.job_pipelined(job) || held_ == job)) {
      statement.keep();
    } else {
      give_up(statement, job, unfit);
    }
    return false;
  }

  // What was placed is taken back; how far it came, and what it lacks, is noted.
  void give_up(Statement& statement, JobId job, const std::set<const NodeBoard*>& unfit) {
    JobNote& note = session_.note(job);
    note.reach = placed(job);
    note.nearest.reset();
    if (!note.fit_errors.empty()) {
      find_hopeless(job);
      const auto [task, error] = note.told();
      if (told_here(job, *error)) note.nearest = session_.board({job, task}).nearest_for(job);
    }
    statement.discard();
    refresh_figures(job, unfit);
  }

  // Of the nodes that the job may use now, not of those that a part of it was confined to.
  bool told_here(JobId job, const FitError& error) const {
    const Domain* here = session_.confinement(job);
    return error.hyper_node == (here == nullptr ? std::string() : here->name);
  }

  // A gang may lack room for one of its tasks and have another that fits nowhere even where nobody
  // else is: then no room helps.
  void find_hopeless(JobId job) {
    JobNote& note = session_.note(job);
    note.never.reset();
    std::set<const NodeBoard*> seen;
    const std::vector<Task>& tasks = session_.job(job).tasks;
    for (std::uint32_t t = 0; t < tasks.size() && !note.never; ++t) {
      if (tasks[t].status != TaskStatus::Pending || tasks[t].spec->gated) continue;
      NodeBoard& board = session_.board({job, t});
      if (!seen.insert(&board).second) continue;
      FitErrorPtr error = board.explain();
      if (!error->nearest.name.empty()) continue;
      note.never = t;
      note.fit_errors[t] = std::move(error);
    }
  }

  // A gang that counts on members without requests does not start before these have a place too.
  // True when all it needs is there.
  bool complete(Statement& statement, JobId job) {
    if (session_.job_placed(job)) return true;
    for (const std::uint32_t t : best_effort_tasks(session_, session_.job(job))) {
      NodeBoard& board = session_.board({job, t});
      const NodeSlot best = board.best_idle();
      if (best == kNoNode) {
        session_.note(job).fit_errors[t] = board.explain();
        continue;
      }
      statement.allocate({job, t}, best);
      if (session_.job_placed(job)) return true;
    }
    return false;
  }

  // The reasons were found while the gang's other members held their places; the figures are to
  // show what is free now that they have been given back.
  void refresh_figures(JobId job, const std::set<const NodeBoard*>& unfit) {
    std::map<const NodeBoard*, FitErrorPtr> renewed;
    for (auto& [task, error] : session_.note(job).fit_errors) {
      NodeBoard& board = session_.board({job, task});
      if (!unfit.contains(&board) || !told_here(job, *error)) continue;
      FitErrorPtr& slot = renewed[&board];
      if (slot == nullptr) {
        auto fresh = std::make_shared<FitError>(*error);
        const FitErrorPtr now = board.explain();
        fresh->figures = now->figures;
        fresh->room = now->room;
        slot = std::move(fresh);
      }
      error = slot;
    }
  }

  bool place(Statement& statement, TaskRef ref, const TaskSpec& spec, NodeBoard& board) {
    if (!spec.nominated.empty()) {
      const NodeSlot nominated = session_.find_node(spec.nominated);
      if (nominated != kNoNode && place_on(statement, ref, board, nominated)) return true;
    }
    if (const NodeSlot best = board.best_idle(); best != kNoNode) {
      statement.allocate(ref, best);
      return true;
    }
    if (const NodeSlot best = board.best_future(); best != kNoNode) {
      statement.pipeline(ref, best);
      return true;
    }
    session_.note(ref.job).fit_errors[ref.task] = board.explain();
    return false;
  }

  static bool place_on(Statement& statement, TaskRef ref, const NodeBoard& board, NodeSlot node) {
    if (board.fits_idle(node)) {
      statement.allocate(ref, node);
      return true;
    }
    if (!board.fits_future(node)) return false;
    statement.pipeline(ref, node);
    return true;
  }

  Session& session_;
  std::optional<JobId> held_{};
  QueueLine queues_;
  std::map<QueueId, std::vector<JobId>> waiting_;  // who is to take turns
  std::map<QueueId, JobLine> jobs_;
  std::map<JobId, std::deque<std::uint32_t>> tasks_;
};

}  // namespace

void allocate(Session& session) {
  Allocator(session).run();
  lift_queue_gates(session);
}

}  // namespace krater::scheduler
