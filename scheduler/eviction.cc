#include "scheduler/eviction.h"

#include <algorithm>

#include "base/go_bool.h"
#include "model/keys.h"

namespace krater::scheduler {
namespace {

// Enough nodes with a way out have been compared: the rest is not looked at.
constexpr std::size_t kEnoughPlans = 100;
// So many gangs of one node are compared.
constexpr std::size_t kOtherGangs = 8;

// Whoever keeps pods for their own sake (a disruption budget, say) lets all of these go together.
bool keepers_let_go(const Session& session, TaskRef claimant, const TaskRefs& gang) {
  for (const auto& tier : session.plugins().reclaimable.tiers) {
    for (const ReclaimableHook* hook : tier) {
      const auto* keeper = dynamic_cast<const KeeperHook*>(hook);
      if (keeper == nullptr || keeper->keeps_gangs_together()) continue;
      const std::optional<TaskRefs> named = hook->reclaimable(session, claimant, gang);
      if (named && named->size() < gang.size()) return false;
    }
  }
  return true;
}

// It will stand once those have left who are leaving for it, and they will: who should have left by
// now is not waited for.
bool will_stand(const Session& session, const JobInfo& job) {
  if (job.waiting_tasks() == 0 || !job.is_pipelined() || gang_stands(job)) return false;
  return std::none_of(job.tasks.begin(), job.tasks.end(), [&](const Task& task) {
    if (task.status != TaskStatus::Pipelined || !session.has_node(task.node)) return false;
    const Resource& late = session.late_room(task.node).held;
    return !late.is_zero() && !late.fits_in(session.node(task.node).future_idle());
  });
}

}  // namespace

bool gang_stands(const JobInfo& job) {
  if (!job.is_ready() || !job.sub_groups_ready()) return false;
  if (job.role_minimums.empty() || !job.roles_bind()) return true;
  const auto have = job.by_role([](const Task& task) {
    return is_allocated(task.status) || task.status == TaskStatus::Succeeded;
  });
  return std::all_of(job.role_minimums.begin(), job.role_minimums.end(), [&](const auto& role) {
    const auto count = have.find(role.first);
    return role.second <= 0 || (count != have.end() && count->second >= role.second);
  });
}

bool lets_go(const JobInfo& job) {
  // Few say anything about it; the others are not read for it.
  if (job.group == nullptr || job.group->bytes()->find(keys::kPreemptable) == std::string::npos)
    return true;
  const std::string_view said = ObjectView(job.group).annotation(keys::kPreemptable);
  const std::string_view text = said.empty() ? job.group->label(keys::kPreemptable) : said;
  return text.empty() || parse_go_bool(text).value_or(false);
}

EvictionPlanner::EvictionPlanner(Session& session, EvictionRules rules)
    : session_(session), rules_(std::move(rules)) {
  session_.load_all();
}

bool EvictionPlanner::fits(TaskRef task, NodeSlot node) {
  const TaskSpecPtr& spec = session_.task(task).spec;
  if (!checks_placement()) return spec->shape->request.fits_in(session_.node(node).future_idle());
  Refusal why;
  return session_.board(task).fits_future(node) &&
         session_.allocatable(session_.queue_of(task.job), *spec, why);
}

// Whether more than the amounts counts once somebody has left.
bool EvictionPlanner::checks_placement() const {
  return rules_.asking != Asking::Reclaiming || session_.behaviors().reclaim_checks_placement;
}

bool EvictionPlanner::take_free_room(Statement& statement, TaskRef task) {
  const TaskSpecPtr& spec = session_.task(task).spec;
  if (Refusal why;
      checks_placement() && !session_.allocatable(session_.queue_of(task.job), *spec, why)) {
    return false;
  }
  NodeBoard& board = session_.board(task);
  NodeSlot node = board.best_idle();
  if (node == kNoNode) node = board.best_future();
  if (node == kNoNode) return false;
  statement.pipeline(task, node);
  return true;
}

// Volcano's way: the first node that works, though another were free. For preempt in the order in
// which the newcomer likes them; for reclaim by name, and only where there is somebody to ask.
bool EvictionPlanner::make_room_on_first(Statement& statement, TaskRef task) {
  const NodeBoard& board = session_.board(task);
  const bool reclaims = rules_.asking == Asking::Reclaiming;
  ++scans_;
  std::vector<NodeSlot> nodes;
  for (const NodeSlot node : session_.node_order()) {
    if (board.may_take(node) && (!reclaims || !candidates(task, node).empty()))
      nodes.push_back(node);
  }
  if (!reclaims) {
    std::map<NodeSlot, std::int64_t> scores;
    for (const NodeSlot node : nodes) scores.emplace(node, board.score(node));
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeSlot a, NodeSlot b) { return scores.at(a) > scores.at(b); });
  }
  for (const NodeSlot node : nodes) {
    Plan plan;
    if (fits(task, node)) {
      statement.pipeline(task, node);
      return true;
    }
    count_attempt();
    if (!study(statement, task, node, plan)) continue;
    carry_out(statement, task, plan);
    return true;
  }
  return false;
}

bool EvictionPlanner::make_room(Statement& statement, TaskRef task) {
  if (!session_.behaviors().least_cost_victims) return make_room_on_first(statement, task);
  if (take_free_room(statement, task)) return true;
  const NodeBoard& board = session_.board(task);
  ++scans_;
  count_attempt();
  std::size_t plans = 0;
  Plan best;
  for (const NodeSlot node : session_.node_order()) {
    if (!board.may_take(node)) continue;
    if (study(statement, task, node, best) && ++plans == kEnoughPlans) break;
  }
  if (best.node == kNoNode) return false;
  carry_out(statement, task, best);
  return true;
}

void EvictionPlanner::carry_out(Statement& statement, TaskRef task, const Plan& plan) const {
  TaskRefs asked = candidates(task, plan.node);
  put_in_order(task, asked);
  const PluginPlaces by = offered_by(session_, task, asked, rules_.asking);
  for (const TaskRef& victim : plan.victims) statement.evict(victim, by);
  statement.pipeline(task, plan.node);
}

EvictionPlanner::Likeness EvictionPlanner::likeness(JobId id) const {
  const JobInfo& job = session_.job(id);
  std::map<std::tuple<const NodeBoard*, bool, std::int64_t>, std::int64_t> wants;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    const Task& task = job.tasks[t];
    if (task.status != TaskStatus::Pending || task.spec->gated) continue;
    ++wants[{&session_.board({id, t}), task.spec->preempts, task.spec->priority}];
  }
  return {session_.queue_of(id), job.priority,     job.min_member,
          job.ready_tasks(),     std::move(wants), job.sub_group_policies.get()};
}

const std::string* EvictionPlanner::hopeless(JobId job) const {
  const auto place = given_up_.find(likeness(job));
  return place == given_up_.end() ? nullptr : &place->second;
}

void EvictionPlanner::give_up(JobId job, std::optional<TaskRef> denied, std::string words) {
  const std::string kept =
      denied ? who_is_kept(session_, *denied, in_the_way(*denied), rules_.asking) : std::string();
  words += (words.empty() || kept.empty() ? "" : "; ") + kept;
  tell_why_nobody_leaves(session_, job, words);
  given_up_.emplace(likeness(job), std::move(words));
}

TaskRefs EvictionPlanner::in_the_way(TaskRef task) {
  TaskRefs out;
  const NodeBoard& board = session_.board(task);
  for (const NodeSlot node : session_.node_order()) {
    if (!board.may_take(node)) continue;
    for (const TaskRef& one : session_.residents(node)) {
      if (holds_place(session_.task(one).status) && rules_.candidate(task, one)) out.push_back(one);
    }
  }
  return out;
}

bool EvictionPlanner::may_leave(JobId job) const {
  const auto [place, fresh] = may_leave_.try_emplace(job, true);
  if (fresh)
    place->second = !session_.behaviors().groups_protect_pods || lets_go(session_.job(job));
  return place->second;
}

TaskRefs EvictionPlanner::candidates(TaskRef task, NodeSlot node) const {
  TaskRefs out;
  for (const TaskRef& one : session_.residents(node)) {
    if (holds_place(session_.task(one).status) && session_.task(one).spec->preemptable &&
        rules_.candidate(task, one) && may_leave(one.job)) {
      out.push_back(one);
    }
  }
  return out;
}

void EvictionPlanner::put_in_order(TaskRef task, TaskRefs& ones) const {
  std::sort(ones.begin(), ones.end(),
            [&, queue = session_.queue_of(task.job)](TaskRef a, TaskRef b) {
              return session_.leaves_before(a, b, queue);
            });
}

bool EvictionPlanner::could_be_enough(TaskRef task, NodeSlot node, const TaskRefs& victims) const {
  Resource room = session_.node(node).future_idle();
  for (const TaskRef& one : victims) room += session_.task(one).spec->shape->request;
  return session_.task(task).spec->shape->request.fits_in(room);
}

bool EvictionPlanner::study(Statement& statement, TaskRef task, NodeSlot node, Plan& best) {
  TaskRefs possible = candidates(task, node);
  if (possible.empty() || !could_be_enough(task, node, possible)) return false;
  // Plugins that let only so many go are to name those who would go first.
  put_in_order(task, possible);
  TaskRefs allowed = rules_.allowed(task, possible);
  if (allowed.empty() || !could_be_enough(task, node, allowed)) return false;
  put_in_order(task, allowed);
  Attempt last = try_order(statement, task, allowed, {node, /*break_gangs=*/false}, best);
  bool found = last.enough;
  if (!last.spared_gangs) return found;
  last = try_order(statement, task, allowed, {node, /*break_gangs=*/true}, best);
  found = found || last.enough;
  if (last.enough && session_.behaviors().least_cost_victims) {
    for (const TaskRefs& order : other_gangs_first(allowed, last))
      try_order(statement, task, order, {node, /*break_gangs=*/true}, best);
  }
  return found;
}

EvictionPlanner::Attempt EvictionPlanner::try_order(Statement& statement, TaskRef task,
                                                    const TaskRefs& ordered, Attempt one,
                                                    Plan& best) {
  const Statement::Mark mark = statement.mark();
  one.enough = attempt(statement, task, ordered, one);
  if (one.enough && session_.behaviors().spare_unneeded_victims) spare(statement, task, one);
  statement.roll_back(mark);
  if (one.enough) {
    Plan plan{one.node, cost_of(one), one.victims};
    if (best.node == kNoNode || better(task, plan, best)) best = std::move(plan);
  }
  return one;
}

// A gang was broken that came first; others of its queue may be smaller.
std::vector<TaskRefs> EvictionPlanner::other_gangs_first(const TaskRefs& ordered,
                                                         const Attempt& broke) const {
  std::vector<TaskRefs> out;
  if (broke.broken.empty()) return out;
  const QueueId queue = session_.queue_of(*broke.broken.begin());
  std::set<JobId> tried = broke.broken;
  for (const TaskRef& one : ordered) {
    if (session_.queue_of(one.job) != queue || !gang_stands(session_.job(one.job))) continue;
    if (!tried.insert(one.job).second) continue;
    TaskRefs order = ordered;
    std::stable_partition(order.begin(), order.end(),
                          [&](const TaskRef& other) { return other.job == one.job; });
    out.push_back(std::move(order));
    if (out.size() == kOtherGangs) break;
  }
  return out;
}

bool EvictionPlanner::attempt(Statement& statement, TaskRef task, const TaskRefs& ordered,
                              Attempt& out) {
  for (const TaskRef& victim : ordered) {
    if (!holds_place(session_.task(victim).status)) continue;  // went along with its gang
    if (!evict(statement, task, victim, out)) continue;
    if (fits(task, out.node)) return true;
  }
  return false;
}

bool EvictionPlanner::evict(Statement& statement, TaskRef task, TaskRef victim, Attempt& out) {
  if (!session_.behaviors().whole_gang_eviction) {
    statement.evict(victim);
    out.victims.push_back(victim);
    return true;
  }
  const Statement::Mark mark = statement.mark();
  const bool stood =
      gang_stands(session_.job(victim.job)) || will_stand(session_, session_.job(victim.job));
  const bool may_fall = !stood || (out.break_gangs && gang_may_fall(task, victim.job));
  statement.evict(victim);
  if (!stood || gang_stands(session_.job(victim.job)) ||
      will_stand(session_, session_.job(victim.job))) {
    out.victims.push_back(victim);
    return true;
  }
  if (!may_fall || victim.job == task.job) {
    statement.roll_back(mark);
    look_again_when_late(task.job, session_.job(victim.job));
    out.spared_gangs = true;
    return false;
  }
  out.victims.push_back(victim);
  out.broken.insert(victim.job);
  for (const TaskRef& member : members(victim.job)) {
    statement.evict(member);
    out.victims.push_back(member);
  }
  return true;
}

// Who is spared for the sake of those who are leaving for him may go once they are late.
void EvictionPlanner::look_again_when_late(JobId claimant, const JobInfo& spared) {
  if (!will_stand(session_, spared)) return;
  for (const Task& task : spared.tasks) {
    if (task.status != TaskStatus::Pipelined) continue;
    if (const auto next = session_.late_room(task.node).next; next)
      session_.look_again(claimant, *next);
  }
}

TaskRefs EvictionPlanner::members(JobId job) const {
  TaskRefs out;
  const std::vector<Task>& tasks = session_.job(job).tasks;
  for (std::uint32_t t = 0; t < tasks.size(); ++t) {
    if (holds_place(tasks[t].status)) out.push_back({job, t});
  }
  return out;
}

// Every one of its tasks can be evicted, and may be.
bool EvictionPlanner::gang_may_fall(TaskRef task, JobId job) const {
  const JobInfo& info = session_.job(job);
  if (info.count(TaskStatus::Binding) + info.count(TaskStatus::Allocated) > 0) return false;
  if (will_stand(session_, info)) return false;
  TaskRefs all = members(job);
  for (const TaskRef& one : all) {
    const TaskSpec& spec = *session_.task(one).spec;
    if (!spec.preemptable || !session_.has_node(session_.task(one).node) ||
        session_.guarded(spec) || !rules_.candidate(task, one)) {
      return false;
    }
  }
  return rules_.companions_allowed ? rules_.allowed(task, all).size() == all.size()
                                   : keepers_let_go(session_, task, all);
}

// Whoever was chosen early and is not needed any more stays, a gang as a whole; the most valuable
// is asked first.
void EvictionPlanner::spare(Statement& statement, TaskRef task, Attempt& out) {
  std::vector<TaskRefs> groups;
  std::map<JobId, std::size_t> gangs;  // broken ones: place in `groups`
  for (const TaskRef& one : out.victims) {
    if (!out.broken.contains(one.job)) {
      groups.push_back({one});
      continue;
    }
    const auto [place, fresh] = gangs.emplace(one.job, groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].push_back(one);
  }
  const Statement::Mark nobody = statement.mark() - out.victims.size();
  const auto evict_all = [&] {
    statement.roll_back(nobody);
    for (const TaskRefs& group : groups) {
      for (const TaskRef& one : group) statement.evict(one);
    }
  };
  for (std::size_t i = groups.size(); i-- > 0 && groups.size() > 1;) {
    TaskRefs spared = std::move(groups[i]);
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    evict_all();
    if (fits(task, out.node)) {
      out.broken.erase(spared.front().job);
      continue;
    }
    groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(i), std::move(spared));
    evict_all();
  }
  out.victims.clear();
  for (const TaskRefs& group : groups)
    out.victims.insert(out.victims.end(), group.begin(), group.end());
}

EvictionPlanner::Cost EvictionPlanner::cost_of(const Attempt& attempt) const {
  std::int64_t job_priority = INT64_MIN, task_priority = INT64_MIN;
  std::size_t running = 0;
  for (const TaskRef& one : attempt.victims) {
    job_priority = std::max(job_priority, session_.job(one.job).priority);
    task_priority = std::max(task_priority, session_.task(one).spec->priority);
    if (session_.task(one).status == TaskStatus::Running) ++running;
  }
  return {job_priority, task_priority, attempt.broken.size(), attempt.victims.size(), running};
}

// At equal cost whoever goes first anyway; then the better node, then the earlier name.
bool EvictionPlanner::better(TaskRef task, const Plan& a, const Plan& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  const QueueId queue = session_.queue_of(task.job);
  const TaskRef left = a.victims.front(), right = b.victims.front();
  if (session_.leaves_before(left, right, queue)) return true;
  if (session_.leaves_before(right, left, queue)) return false;
  NodeBoard& board = session_.board(task);
  const std::int64_t mine = board.score(a.node), other = board.score(b.node);
  if (mine != other) return mine > other;
  return session_.node_rank(a.node) < session_.node_rank(b.node);
}

}  // namespace krater::scheduler
