#include "scheduler/testing/naive.h"

#include <algorithm>

namespace krater::scheduler::naive {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kFull = 100'000;

const Queue& queue_of(const World& world, const Job& job) {
  return queue_named(world, job.queue);
}

Amounts room_on(const World& world, const Placement& placement, const Node& node) {
  return minus(node.all, used_on(world, placement, node));
}

// How full cpu and memory get; both must be asked for.
std::int64_t fullness(const World& world, const Placement& placement, const Job& job,
                      const Node& node) {
  const Amounts after = plus(used_on(world, placement, node), job.each);
  std::int64_t sum = 0, weights = 0;
  for (const std::size_t kind : {kCpu, kMemory}) {
    if (job.each[kind] <= 0) continue;
    ++weights;
    sum += static_cast<std::int64_t>(static_cast<Wide>(kFull) * after[kind] / node.all[kind]);
  }
  return weights == 0 ? 0 : sum / weights;
}

const Node* best_node(const World& world, const Placement& placement, const Job& job) {
  const Node* best = nullptr;
  std::int64_t best_score = -1;
  for (const Node& node : world.nodes) {
    if (!fits_in(job.each, room_on(world, placement, node))) continue;
    const std::int64_t score = fullness(world, placement, job, node);
    if (score > best_score) best = &node, best_score = score;
  }
  return best;
}

struct Turn {
  const Job* job;
  std::int64_t next = 0;  // pods up to here have had their try
};

// The gang if it is not there yet, else one pod more. False: nothing more of this job.
bool take_turn(const World& world, const Poured& poured, Placement& placement, Turn& turn) {
  const Job& job = *turn.job;
  Placement trial = placement;
  bool any = false;
  while (turn.next < job.pods) {
    const std::string pod = pod_name(job, turn.next++);
    // Its queue's limits: the next one may be tried, and will not fit either.
    if (!may_have(world, poured, trial, queue_of(world, job), job.each)) continue;
    const Node* node = best_node(world, trial, job);
    if (node == nullptr) {
      // All pods are alike: none of the others will find a node.
      if (placed(trial, job) < job.min || job.min == job.pods) break;
      continue;
    }
    trial[pod] = node->name;
    any = true;
    if (placed(trial, job) >= job.min) break;
  }
  if (!any || placed(trial, job) < job.min) return false;
  placement = std::move(trial);
  return turn.next < job.pods;
}

bool turn_before(const World& world, const Poured& poured, const Placement& placement, const Job& a,
                 const Job& b) {
  const Queue &mine = queue_of(world, a), &theirs = queue_of(world, b);
  if (&mine != &theirs) return queue_before(world, poured, placement, mine, theirs);
  const int order = job_order(world, placement, a, b);
  return order != 0 ? order < 0 : a.name < b.name;
}

}  // namespace

Placement schedule(const World& world) {
  const Poured poured = pour_out(world);
  Placement out;
  std::vector<Turn> turns;
  for (const Job& job : world.jobs) turns.push_back({&job});
  while (!turns.empty()) {
    auto best = turns.begin();
    for (auto one = turns.begin(); one != turns.end(); ++one) {
      if (turn_before(world, poured, out, *one->job, *best->job)) best = one;
    }
    const Queue& queue = queue_of(world, *best->job);
    if (overused(world, poured, out, queue)) {
      std::erase_if(turns, [&](const Turn& one) { return one.job->queue == queue.name; });
    } else if (!take_turn(world, poured, out, *best)) {
      turns.erase(best);
    }
  }
  return out;
}

std::vector<std::string> violations(const World& world, const Placement& placement) {
  const Poured poured = pour_out(world);
  std::vector<std::string> out;
  for (const Node& node : world.nodes) {
    if (!fits_in(used_on(world, placement, node), node.all))
      out.push_back("node " + node.name + " is over-committed");
  }
  for (const Queue& queue : world.queues) {
    for (const std::size_t kind : {kCpu, kMemory}) {
      const std::int64_t most = world.rules.proportion ? *due_of(world, poured, queue)[kind]
                                                       : limit_of(world, queue)[kind];
      if (held(world, placement, queue)[kind] > most)
        out.push_back("queue " + queue.name + " holds more than its limit");
    }
  }
  for (const Job& job : world.jobs) {
    const std::int64_t count = placed(placement, job);
    if (count > 0 && count < job.min) out.push_back("gang " + job.name + " runs in part");
  }
  return out;
}

std::vector<std::string> lost_guarantees(const World& world, const Placement& placement) {
  const Amounts kept = guaranteed_and_not_held(world, placement);
  const Amounts free = minus(all_there_is(world), held_by_all(world, placement));
  const Amounts at_first = guaranteed_and_not_held(world, {});
  std::vector<std::string> out;
  for (const std::size_t kind : {kCpu, kMemory}) {
    // More may have been promised than there is.
    const bool possible = at_first[kind] <= all_there_is(world)[kind];
    if (possible && kept[kind] > free[kind])
      out.push_back("of what is guaranteed " + std::to_string(kept[kind] - free[kind]) +
                    " is not there");
  }
  return out;
}

std::vector<std::string> idle_for_no_reason(const World& world, const Placement& placement) {
  const Poured poured = pour_out(world);
  std::vector<std::string> out;
  for (const Job& job : world.jobs) {
    if (placed(placement, job) > 0) continue;
    Placement trial = placement;
    std::int64_t found = 0;
    for (const Node& node : world.nodes) {
      while (found < job.min && fits_in(job.each, room_on(world, trial, node)))
        trial[pod_name(job, found++)] = node.name;
    }
    const Queue& queue = queue_of(world, job);
    if (found == job.min && !overused(world, poured, placement, queue) &&
        may_have(world, poured, placement, queue, times(job.each, job.min))) {
      out.push_back(job.name);
    }
  }
  return out;
}

}  // namespace krater::scheduler::naive
