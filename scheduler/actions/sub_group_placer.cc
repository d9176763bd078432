#include "scheduler/actions/sub_group_placer.h"

#include <algorithm>
#include <map>
#include <optional>

namespace krater::scheduler {

void SubGroupPlacer::place(Statement& statement, Tasks& tasks) {
  std::set<std::uint32_t> hopeless;
  while (const std::optional<std::uint32_t> group = next(tasks, hopeless)) {
    if (!place_group(statement, *group, of_group(tasks, *group))) {
      hopeless.insert(*group);
      continue;
    }
    std::erase_if(tasks, [&](std::uint32_t t) {
      return session_.task({job_, t}).status != TaskStatus::Pending;
    });
    if (how_.satisfied()) return;
  }
}

bool SubGroupPlacer::ready(std::uint32_t group) const {
  const SubGroup& one = session_.job(job_).sub_groups[group];
  for (const auto& tier : session_.plugins().sub_group_ready.tiers) {
    for (const SubGroupReadyHook* hook : tier) {
      if (!hook->sub_group_ready(one)) return false;
    }
  }
  return true;
}

bool SubGroupPlacer::pipelined(std::uint32_t group) const {
  const SubGroup& one = session_.job(job_).sub_groups[group];
  for (const auto& tier : session_.plugins().sub_group_pipelined.tiers) {
    bool permitted = false;
    for (const SubGroupPipelinedHook* hook : tier) {
      const Vote vote = hook->sub_group_pipelined(one);
      if (vote == Vote::Reject) return false;
      permitted = permitted || vote == Vote::Permit;
    }
    if (permitted) return true;
  }
  return true;
}

// As the plugins order them, then the one with the smaller number, then the one that came first.
bool SubGroupPlacer::before(const SubGroupTurn& a, const SubGroupTurn& b) const {
  for (const auto& tier : session_.plugins().sub_group_order.tiers) {
    for (const SubGroupOrderHook* hook : tier) {
      if (const int order = hook->sub_group_order(a, b); order != 0) return order < 0;
    }
  }
  const std::int64_t left = a.group->index(), right = b.group->index();
  return left != right ? left < right : a.group < b.group;
}

// Those that a policy's minimum still needs go first.
std::optional<std::uint32_t> SubGroupPlacer::next(const Tasks& tasks,
                                                  const std::set<std::uint32_t>& hopeless) {
  const JobInfo& job = session_.job(job_);
  std::vector<bool> complete(job.sub_groups.size());
  std::vector<std::int64_t> have(job.sub_group_policies->size(), 0);
  for (std::uint32_t g = 0; g < job.sub_groups.size(); ++g) {
    complete[g] = done(g);
    const std::uint32_t policy = job.sub_groups[g].policy;
    if (policy < have.size() && complete[g]) ++have[policy];
  }
  std::map<std::uint32_t, SubGroupTurn> waiting;
  for (const std::uint32_t t : tasks) {
    const Task& task = job.tasks[t];
    const std::uint32_t g = task.sub_group;
    if (hopeless.contains(g)) continue;
    const SubGroupTurn turn{&job.sub_groups[g], task.spec->priority, complete[g]};
    const auto [place, fresh] = waiting.emplace(g, turn);
    if (!fresh) place->second.priority = std::max(place->second.priority, turn.priority);
  }
  const auto needed = [&](const SubGroupTurn& turn) {
    const std::uint32_t policy = turn.group->policy;
    return !turn.done && policy < have.size() &&
           have[policy] < (*job.sub_group_policies)[policy].minimum;
  };
  const auto first =
      std::min_element(waiting.begin(), waiting.end(), [&](const auto& a, const auto& b) {
        const bool left = needed(a.second), right = needed(b.second);
        return left != right ? left : before(a.second, b.second);
      });
  return first == waiting.end() ? std::nullopt : std::optional(first->first);
}

SubGroupPlacer::Tasks SubGroupPlacer::of_group(const Tasks& tasks, std::uint32_t group) const {
  Tasks out;
  for (const std::uint32_t t : tasks) {
    if (session_.job(job_).tasks[t].sub_group == group) out.push_back(t);
  }
  return out;
}

bool SubGroupPlacer::place_group(Statement& statement, std::uint32_t group, const Tasks& tasks) {
  const std::vector<std::vector<Domain>> tiers = session_.domains_for_sub_group(job_, group);
  if (tiers.empty()) return attempt(statement, group, tasks);
  const Domain* outer = session_.confinement(job_);
  std::optional<Domain> best, closest;
  std::size_t reach = 0;
  for (auto tier = tiers.begin(); tier != tiers.end() && !best; ++tier) {
    std::pair<bool, std::int64_t> best_score{};
    for (const Domain& whole : *tier) {
      const Domain domain = within(whole, outer);
      session_.confine(job_, &domain);
      const Statement::Mark mark = statement.mark();
      const bool works = attempt(statement, group, tasks);
      const std::pair score(ready(group), domain.score);
      if (works && (!best || score > best_score)) {
        best = domain;
        best_score = score;
      }
      statement.roll_back(mark);
      if (closest && reached_ <= reach) continue;
      closest = domain;
      reach = reached_;
    }
  }
  // What is told is what stands in the way there; where it works nowhere, where it came furthest.
  forget_reasons(tasks);
  if (best || closest) session_.confine(job_, best ? &*best : &*closest);
  const bool placed = (best || closest) && attempt(statement, group, tasks);
  session_.confine(job_, outer);
  return placed;
}

Domain SubGroupPlacer::within(const Domain& domain, const Domain* outer) {
  Domain out = domain;
  for (std::size_t i = 0; outer != nullptr && i < out.nodes.size(); ++i)
    out.nodes[i] = out.nodes[i] && outer->nodes[i];
  return out;
}

void SubGroupPlacer::forget_reasons(const Tasks& tasks) {
  for (const std::uint32_t t : tasks) session_.note(job_).fit_errors.erase(t);
}

// The sub-group as a whole, or one more of it when it is complete.
bool SubGroupPlacer::attempt(Statement& statement, std::uint32_t group, Tasks tasks) {
  const Statement::Mark mark = statement.mark();
  how_.place_some(statement, tasks, [&] { return done(group); });
  reached_ = statement.mark() - mark;
  if (statement.mark() > mark && (ready(group) || pipelined(group))) return true;
  statement.roll_back(mark);
  return false;
}

}  // namespace krater::scheduler
