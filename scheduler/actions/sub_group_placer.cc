#include "scheduler/actions/sub_group_placer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

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

bool SubGroupPlacer::done(std::uint32_t group) const {
  const SubGroup& one = session_.job(job_).sub_groups[group];
  return how_.promises ? one.is_pipelined() : one.is_ready();
}

// Those that a policy's minimum still needs, then those that are not complete; the more important,
// then the one with the smaller number.
std::optional<std::uint32_t> SubGroupPlacer::next(const Tasks& tasks,
                                                  const std::set<std::uint32_t>& hopeless) {
  const JobInfo& job = session_.job(job_);
  std::vector<std::int64_t> have(job.sub_group_policies->size(), 0);
  for (std::uint32_t g = 0; g < job.sub_groups.size(); ++g) {
    const std::uint32_t policy = job.sub_groups[g].policy;
    if (policy < have.size() && done(g)) ++have[policy];
  }
  using Rank = std::tuple<bool, bool, std::int64_t, std::int64_t, std::uint32_t>;
  std::map<std::uint32_t, Rank> waiting;
  for (const std::uint32_t t : tasks) {
    const Task& task = job.tasks[t];
    const std::uint32_t g = task.sub_group;
    if (hopeless.contains(g)) continue;
    const SubGroup& group = job.sub_groups[g];
    const bool needed = !done(g) && group.policy < have.size() &&
                        have[group.policy] < (*job.sub_group_policies)[group.policy].minimum;
    const Rank rank(!needed, done(g), -task.spec->priority, group.index(), g);
    const auto [place, fresh] = waiting.emplace(g, rank);
    if (!fresh) place->second = std::min(place->second, rank);
  }
  const auto first =
      std::min_element(waiting.begin(), waiting.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
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
  const std::vector<bool>* outer = session_.confinement(job_);
  bool placed = false;
  for (const std::vector<Domain>& tier : tiers) {
    std::vector<bool> best;
    std::pair<bool, std::int64_t> best_score{};
    for (const Domain& domain : tier) {
      std::vector<bool> nodes = domain.nodes;
      for (std::size_t i = 0; outer != nullptr && i < nodes.size(); ++i)
        nodes[i] = nodes[i] && (*outer)[i];
      session_.confine(job_, &nodes);
      const Statement::Mark mark = statement.mark();
      if (attempt(statement, group, tasks)) {
        const std::pair score(session_.job(job_).sub_groups[group].is_ready(), domain.score);
        if (best.empty() || score > best_score) {
          best = nodes;
          best_score = score;
        }
      }
      statement.roll_back(mark);
    }
    if (best.empty()) continue;
    session_.confine(job_, &best);
    placed = attempt(statement, group, tasks);
    break;
  }
  session_.confine(job_, outer);
  return placed;
}

// The sub-group as a whole, or one more of it when it is complete.
bool SubGroupPlacer::attempt(Statement& statement, std::uint32_t group, Tasks tasks) {
  const Statement::Mark mark = statement.mark();
  how_.place_some(statement, tasks, [&] { return done(group); });
  if (statement.mark() > mark && session_.job(job_).sub_groups[group].is_pipelined()) return true;
  statement.roll_back(mark);
  return false;
}

}  // namespace krater::scheduler
