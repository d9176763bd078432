#include "scheduler/testing/naive_victims.h"

#include <algorithm>
#include <tuple>

#include "base/strings.h"

namespace krater::scheduler::naive {
namespace {

using Pods = std::vector<std::string>;

// The claimant and the rules of its claim.
struct Case {
  const World& world;
  const Poured& poured;
  const State& state;
  const Job& job;
  bool across_queues;

  const Queue& queue() const { return queue_named(world, job.queue); }
};

Placement without(Placement placement, const Pods& pods) {
  for (const std::string& pod : pods) placement.erase(pod);
  return placement;
}
bool room_for(const World& world, const Placement& placement, const Job& job, const Node& node) {
  return fits_in(plus(used_on(world, placement, node), job.each), node.all);
}

// Reclaim: the claimant's queue stays within what it deserves of something that the pod asks for.
bool entitled(const Case& one, const Placement& placement) {
  const Wishes due = due_of(one.world, one.poured, one.queue());
  const Amounts after = plus(held(one.world, placement, one.queue()), one.job.each);
  const Amounts limit = limit_of(one.world, one.queue());
  bool some = false, all = true, within = true;
  for (const std::size_t kind : {kCpu, kMemory}) {
    if (one.job.each[kind] <= 0) continue;
    const bool deserved = due[kind] && after[kind] <= *due[kind];
    some = some || deserved;
    all = all && deserved;
    within = within && after[kind] <= limit[kind];
  }
  return one.world.rules.proportion ? all : some && within;
}

// --- Who comes into question.

bool comes_into_question(const Case& one, const std::string& pod) {
  const Job& victim = job_of(one.world, pod);
  if (one.state.promised.contains(pod)) return false;
  if (!one.across_queues)
    return victim.queue == one.job.queue && victim.priority < one.job.priority;
  return victim.queue != one.job.queue && queue_named(one.world, victim.queue).reclaimable;
}

// Which of a queue's pods leaves first: of the job that would be served last; bound ones, the last
// of their job.
bool leaves_before(const Case& one, const std::string& a, const std::string& b) {
  const Job &mine = job_of(one.world, a), &theirs = job_of(one.world, b);
  const int order = job_order(one.world, one.state.placed, mine, theirs);
  if (order != 0) return order > 0;
  const bool a_runs = !one.state.bound.contains(a), b_runs = !one.state.bound.contains(b);
  if (a_runs != b_runs) return b_runs;
  const auto number = [](const std::string& pod) { return pod.substr(pod.rfind('-')); };
  return std::tuple(number(a), a) > std::tuple(number(b), b);
}

// --- What a queue lets go.

// What is left of its queue is enough for the pod to be given away: it holds more than it deserves
// of something the pod gives, and keeps its guarantee.
bool capacity_gives(const Case& one, const Queue& from, const Amounts& left, const Amounts& given) {
  const Wishes due = due_of(one.world, one.poured, from);
  const Amounts floor = guarantee_of(one.world, from);
  bool of_use = false, means_something = false, beyond = false;
  for (const std::size_t kind : {kCpu, kMemory}) {
    if (floor[kind] > 0 && left[kind] - given[kind] < floor[kind]) return false;
    if (one.job.each[kind] > 0) of_use = of_use || given[kind] > 0;
    if (given[kind] <= 0 || !due[kind]) continue;
    means_something = means_something || *due[kind] > 0;
    beyond = beyond || left[kind] > *due[kind];
  }
  return of_use && (beyond || !means_something);
}
// The claimant's queue would have too much of something, and the other could ask for it again.
bool comes_back(const Case& one, const Queue& from, const Amounts& left, const Amounts& given) {
  const Wishes due = due_of(one.world, one.poured, from);
  const Wishes claimants = due_of(one.world, one.poured, one.queue());
  const Amounts after = plus(held(one.world, one.state.placed, one.queue()), one.job.each);
  bool over = false, back = false;
  for (const std::size_t kind : {kCpu, kMemory}) {
    over = over || (one.job.each[kind] > 0 && claimants[kind] && after[kind] > *claimants[kind]);
    back = back || (given[kind] > 0 && due[kind] && left[kind] <= *due[kind]);
  }
  return over && back;
}
bool proportion_gives(const Case& one, const Queue& from, const Amounts& left) {
  const Wishes due = due_of(one.world, one.poured, from);
  return left[kCpu] > *due[kCpu] || left[kMemory] > *due[kMemory];
}
// Whoever offers it, nothing is taken that comes back.
bool gives(const Case& one, const Queue& from, const Amounts& left, const Amounts& given) {
  const bool asked = one.world.rules.queues_asked;
  if (one.world.rules.proportion) return !asked || proportion_gives(one, from, left);
  return (!asked || capacity_gives(one, from, left, given)) && !comes_back(one, from, left, given);
}

// In some order each of them may be given away, counted with those before him.
bool gives_in_some_order(const Case& one, const Queue& from, const Amounts& left,
                         const std::vector<Amounts>& all) {
  if (all.empty()) return true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) !=
        all.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;  // one like it was tried
    }
    if (!gives(one, from, left, all[i])) continue;
    std::vector<Amounts> rest = all;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (gives_in_some_order(one, from, minus(left, all[i]), rest)) return true;
  }
  return false;
}

// drf: the claimant, served, has no more than the other job would have left.
bool drf_gives(const Case& one, const Job& victim, std::int64_t pods) {
  const Amounts mine = times(one.job.each, placed(one.state.placed, one.job) + 1);
  const Amounts theirs = times(victim.each, placed(one.state.placed, victim) - pods);
  return compare(dominant_share(one.world, mine), dominant_share(one.world, theirs)) <= 0;
}

// --- Judging what was done.

// Victims that stand or fall together: single pods, and gangs that fell.
std::vector<Pods> groups_of(const Case& one, const Pods& victims) {
  std::vector<Pods> out;
  for (const Job& job : one.world.jobs) {
    Pods its;
    for (const std::string& pod : victims) {
      if (&job_of(one.world, pod) == &job) its.push_back(pod);
    }
    const std::int64_t had = placed(one.state.placed, job);
    const bool fell = had >= job.min && had - std::ssize(its) < job.min;
    if (its.empty()) continue;
    if (fell) {
      out.push_back(its);
    } else {
      for (const std::string& pod : its) out.push_back({pod});
    }
  }
  return out;
}

void judge_victims(const Case& one, const Claim& claim, Pods& out) {
  std::map<std::string, std::int64_t> lost;  // by job
  for (const std::string& pod : claim.victims) {
    if (!one.state.placed.contains(pod) || !comes_into_question(one, pod))
      out.push_back(pod + " does not come into question");
    ++lost[job_of(one.world, pod).name];
  }
  for (const auto& [name, count] : lost) {
    const Job& job = job_named(one.world, name);
    const std::int64_t had = placed(one.state.placed, job), left = had - count;
    if (had >= job.min && left < job.min && left > 0) out.push_back("gang " + name + " was broken");
    if (one.world.rules.gangs_keep && left < job.min)
      out.push_back("gang " + name + " cannot do without");
    if (!one.across_queues && one.world.rules.drf && !drf_gives(one, job, count))
      out.push_back("the share of " + name + " is too small");
  }
}

void judge_queues(const Case& one, const Claim& claim, Pods& out) {
  std::map<std::string, std::vector<Amounts>> given;  // by queue; of a gang that fell by one pod
  for (const Pods& group : groups_of(one, claim.victims)) {
    const Job& job = job_of(one.world, group.front());
    given[job.queue].push_back(job.each);
  }
  for (const auto& [name, all] : given) {
    const Queue& queue = queue_named(one.world, name);
    if (!gives_in_some_order(one, queue, held(one.world, one.state.placed, queue), all))
      out.push_back("queue " + name + " need not give so much");
  }
}

// Every pod of the claimant's finds its room in this placement, and its queue may have it.
bool all_fit(const Case& one, const Claim& claim, const Placement& placement) {
  return std::all_of(claim.promised.begin(), claim.promised.end(), [&](const auto& promise) {
    const Placement others = without(placement, {promise.first});
    return room_for(one.world, others, one.job, node_named(one.world, promise.second)) &&
           may_have(one.world, one.poured, others, one.queue(), one.job.each);
  });
}

void judge_claimant(const Case& one, const Claim& claim, Pods& out) {
  Placement now = without(one.state.placed, claim.victims);
  if (one.across_queues && overused(one.world, one.poured, now, one.queue()))
    out.push_back("queue " + one.job.queue + " has all it deserves");
  for (const auto& [pod, node] : claim.promised) {
    if (now.contains(pod)) out.push_back(pod + " has a node");
    if (one.across_queues && !entitled(one, now))
      out.push_back("queue " + one.job.queue + " deserves no more");
    now[pod] = node;
  }
  if (placed(now, one.job) != one.job.min) out.push_back("it is not what the gang lacks");
  if (!all_fit(one, claim, now)) out.push_back("there is no room for the claimant");
}

void judge_need(const Case& one, const Claim& claim, Pods& out) {
  const Placement now = after(one.state, claim).placed;
  for (const Pods& group : groups_of(one, claim.victims)) {
    Placement with_them = now;
    for (const std::string& pod : group) with_them[pod] = one.state.placed.at(pod);
    if (all_fit(one, claim, with_them)) out.push_back(join(group, ", ") + " could have stayed");
  }
  if (claim.victims.empty()) out.push_back("nobody had to leave");
}

// --- Looking for a way.

// Of those on a node, whom the plugins name, each by itself, in the order in which they leave.
Pods named_by_gang(const Case& one, const Pods& ordered) {
  if (!one.world.rules.gangs_keep) return ordered;
  std::map<std::string, std::int64_t> lost;
  Pods out;
  for (const std::string& pod : ordered) {
    const Job& job = job_of(one.world, pod);
    if (placed(one.state.placed, job) - lost[job.name] <= job.min) continue;
    ++lost[job.name];
    out.push_back(pod);
  }
  return out;
}
Pods named_by_drf(const Case& one, const Pods& ordered) {
  if (one.across_queues || !one.world.rules.drf) return ordered;
  std::map<std::string, std::int64_t> seen;
  Pods out;
  for (const std::string& pod : ordered) {
    const Job& job = job_of(one.world, pod);
    if (drf_gives(one, job, ++seen[job.name])) out.push_back(pod);
  }
  return out;
}
Pods named_by_queues(const Case& one, const Pods& ordered) {
  if (!one.across_queues) return ordered;
  std::map<std::string, Amounts> left;  // by queue
  Pods out;
  for (const std::string& pod : ordered) {
    const Job& job = job_of(one.world, pod);
    const Queue& queue = queue_named(one.world, job.queue);
    Amounts& rest =
        left.try_emplace(job.queue, held(one.world, one.state.placed, queue)).first->second;
    if (!gives(one, queue, rest, job.each)) continue;
    rest = minus(rest, job.each);
    out.push_back(pod);
  }
  return out;
}
Pods named_by_all(const Case& one, const Pods& ordered) {
  Pods out;
  const Pods drf = named_by_drf(one, ordered), gang = named_by_gang(one, ordered);
  for (const std::string& pod : named_by_queues(one, ordered)) {
    if (std::count(drf.begin(), drf.end(), pod) > 0 &&
        std::count(gang.begin(), gang.end(), pod) > 0)
      out.push_back(pod);
  }
  return out;
}

Pods members(const Case& one, const Job& job) {
  Pods out;
  for (const auto& [pod, node] : one.state.placed) {
    if (&job_of(one.world, pod) == &job) out.push_back(pod);
  }
  return out;
}
// Preempt: all of its members are named. Reclaim: those who go along are not asked.
bool gang_may_fall(const Case& one, const Job& job) {
  const Pods all = members(one, job);
  return one.across_queues || named_by_all(one, all).size() == all.size();
}

// All of these leave, and with them whoever is of no use without them.
Placement once_gone(const Case& one, const Pods& pods) {
  Placement out = one.state.placed;
  for (const std::string& pod : pods) {
    const Job& job = job_of(one.world, pod);
    const bool breaks = placed(out, job) == job.min;  // it stood, and will not
    if (breaks && !gang_may_fall(one, job)) continue;
    out.erase(pod);
    if (breaks) out = without(std::move(out), members(one, job));
  }
  return out;
}

bool served_on(const Case& one, const Node& node) {
  Pods candidates;
  for (const auto& [pod, where] : one.state.placed) {
    if (where == node.name && comes_into_question(one, pod)) candidates.push_back(pod);
  }
  std::sort(candidates.begin(), candidates.end(),
            [&](const std::string& a, const std::string& b) { return leaves_before(one, a, b); });
  const Pods named = named_by_all(one, candidates);
  if (named.empty()) return false;
  // Those who are named make the room; nobody counts on who goes along.
  if (!room_for(one.world, without(one.state.placed, named), one.job, node)) return false;
  const Placement then = once_gone(one, named);
  return room_for(one.world, then, one.job, node) &&
         may_have(one.world, one.poured, then, one.queue(), one.job.each);
}

}  // namespace

State after(const State& before, const Claim& claim) {
  State out = before;
  for (const std::string& pod : claim.victims) {
    out.placed.erase(pod);
    out.bound.erase(pod);
  }
  for (const auto& [pod, node] : claim.promised) {
    out.placed[pod] = node;
    out.promised.insert(pod);
  }
  return out;
}

std::vector<std::string> flaws(const World& world, const Poured& poured, const State& before,
                               const Claim& claim) {
  const Case one{world, poured, before, job_named(world, claim.job), claim.across_queues};
  std::vector<std::string> out;
  judge_victims(one, claim, out);
  if (claim.across_queues) judge_queues(one, claim, out);
  judge_claimant(one, claim, out);
  judge_need(one, claim, out);
  return out;
}

bool could_be_served(const World& world, const Poured& poured, const State& state, const Job& job,
                     bool across_queues) {
  const Case one{world, poured, state, job, across_queues};
  if (across_queues && overused(world, poured, state.placed, one.queue())) return false;
  if (across_queues && !entitled(one, state.placed)) return false;
  const bool allowed = may_have(world, poured, state.placed, one.queue(), job.each);
  for (const Node& node : world.nodes) {
    if (allowed && room_for(world, state.placed, job, node)) return false;
  }
  return std::any_of(world.nodes.begin(), world.nodes.end(),
                     [&](const Node& node) { return served_on(one, node); });
}

}  // namespace krater::scheduler::naive
