#include "scheduler/testing/naive.h"

#include <algorithm>

namespace krater::scheduler::naive {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kFull = 100'000;

const Job& job_of(const World& world, const std::string& pod) {
  return *std::find_if(world.jobs.begin(), world.jobs.end(),
                       [&](const Job& job) { return pod.starts_with(job.name + "-w-"); });
}
std::int64_t all_cpu(const World& world) {
  std::int64_t out = 0;
  for (const Node& node : world.nodes) out += node.all.cpu;
  return out;
}

}  // namespace

std::int64_t cpu_in(const World& world, const Placement& placement, const std::string& queue) {
  std::int64_t out = 0;
  for (const auto& [pod, node] : placement) {
    if (job_of(world, pod).queue == queue) out += job_of(world, pod).each.cpu;
  }
  return out;
}

std::int64_t guarantee_of(const World& world, const Queue& queue) {
  const std::int64_t most = queue.capability_cpu.value_or(0);
  const std::int64_t kept = most > 0 ? std::min(queue.guarantee_cpu, most) : queue.guarantee_cpu;
  return kept > all_cpu(world) ? 0 : kept;
}

namespace {

const Queue& queue_of(const World& world, const Job& job) {
  return *std::find_if(world.queues.begin(), world.queues.end(),
                       [&](const Queue& queue) { return queue.name == job.queue; });
}

Amounts used_on(const World& world, const Placement& placement, const std::string& node) {
  Amounts out;
  for (const auto& [pod, where] : placement) {
    if (where != node) continue;
    out.cpu += job_of(world, pod).each.cpu;
    out.memory += job_of(world, pod).each.memory;
  }
  return out;
}
std::int64_t pods_on(const Placement& placement, const std::string& node) {
  return std::count_if(placement.begin(), placement.end(),
                       [&](const auto& entry) { return entry.second == node; });
}
std::int64_t running(const World& world, const Placement& placement, const Job& job) {
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < job.pods; ++i) out += placement.contains(pod_name(job, i)) ? 1 : 0;
  return out;
}
// All there is, less what is guaranteed to others, within the own limit.
std::int64_t limit_of(const World& world, const Queue& queue) {
  std::int64_t guaranteed = 0;
  for (const Queue& one : world.queues) guaranteed += guarantee_of(world, one);
  std::int64_t out =
      std::max<std::int64_t>(all_cpu(world) - guaranteed, 0) + guarantee_of(world, queue);
  if (queue.capability_cpu.value_or(0) > 0) out = std::min(out, *queue.capability_cpu);
  return out;
}

// Whether so much more may go to the queue: what is guaranteed to others and not in use stays free.
bool may_have(const World& world, const Placement& placement, const Queue& queue,
              std::int64_t more) {
  if (cpu_in(world, placement, queue.name) + more > limit_of(world, queue)) return false;
  std::int64_t free = all_cpu(world), kept = 0;
  for (const auto& [pod, node] : placement) free -= job_of(world, pod).each.cpu;
  for (const Queue& other : world.queues) {
    if (other.name == queue.name) continue;
    const std::int64_t held = cpu_in(world, placement, other.name);
    kept += std::max<std::int64_t>(guarantee_of(world, other) - held, 0);
  }
  return more <= 0 || kept <= 0 || more <= free - kept;
}

// The fair point, raised to the guarantee and within the limit; nullopt: none was set.
std::optional<std::int64_t> due_of(const World& world, const Queue& queue) {
  std::optional<std::int64_t> out;
  if (queue.deserved_cpu) out = std::min(*queue.deserved_cpu, limit_of(world, queue));
  if (guarantee_of(world, queue) > 0) out = std::max(out.value_or(0), guarantee_of(world, queue));
  return out;
}

bool fits(const World& world, const Placement& placement, const Job& job, const Node& node) {
  const Amounts used = used_on(world, placement, node.name);
  return used.cpu + job.each.cpu <= node.all.cpu &&
         used.memory + job.each.memory <= node.all.memory &&
         pods_on(placement, node.name) < node.pods;
}

// How full cpu and memory get; both must be asked for.
std::int64_t fullness(const World& world, const Placement& placement, const Job& job,
                      const Node& node) {
  const Amounts used = used_on(world, placement, node.name);
  std::int64_t sum = 0, weights = 0;
  for (const auto& [asked, taken, all] :
       {std::tuple(job.each.cpu, used.cpu, node.all.cpu),
        std::tuple(job.each.memory, used.memory, node.all.memory)}) {
    if (asked <= 0) continue;
    ++weights;
    sum += static_cast<std::int64_t>(static_cast<Wide>(kFull) * (taken + asked) / all);
  }
  return weights == 0 ? 0 : sum / weights;
}

const Node* best_node(const World& world, const Placement& placement, const Job& job) {
  const Node* best = nullptr;
  std::int64_t best_score = -1;
  for (const Node& node : world.nodes) {
    if (!fits(world, placement, job, node)) continue;
    const std::int64_t score = fullness(world, placement, job, node);
    if (score > best_score) best = &node, best_score = score;
  }
  return best;
}

// Whether a goes before b.
bool queue_before(const World& world, const Placement& placement, const Queue& a, const Queue& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const auto share = [&](const Queue& queue) -> std::pair<std::int64_t, std::int64_t> {
    const auto due = due_of(world, queue);
    const std::int64_t held = cpu_in(world, placement, queue.name);
    if (!due) return {1, 1};
    if (*due <= 0) return {held > 0 ? 1 : 0, 1};
    return {held, *due};
  };
  const auto left = share(a), right = share(b);
  const Wide mine = static_cast<Wide>(left.first) * right.second;
  const Wide theirs = static_cast<Wide>(right.first) * left.second;
  if (mine != theirs) return mine < theirs;
  const bool has = due_of(world, a).has_value(), other = due_of(world, b).has_value();
  if (has != other) return has;
  return a.name < b.name;
}

bool job_before(const World& world, const Placement& placement, const Job& a, const Job& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const bool a_ready = running(world, placement, a) >= a.min;
  const bool b_ready = running(world, placement, b) >= b.min;
  if (a_ready != b_ready) return b_ready;
  return a.name < b.name;
}

struct Turn {
  const Job* job;
  std::int64_t next = 0;  // pods up to here have had their try
};

// The gang if it is not there yet, else one pod more. False: nothing more of this job.
bool take_turn(const World& world, Placement& placement, Turn& turn) {
  const Job& job = *turn.job;
  Placement trial = placement;
  bool placed = false;
  while (turn.next < job.pods) {
    const std::string pod = pod_name(job, turn.next++);
    // Its queue's limits: the next one may be tried, and will not fit either.
    if (!may_have(world, trial, queue_of(world, job), job.each.cpu)) continue;
    const Node* node = best_node(world, trial, job);
    if (node == nullptr) {
      // All pods are alike: none of the others will find a node.
      if (running(world, trial, job) < job.min || job.min == job.pods) break;
      continue;
    }
    trial[pod] = node->name;
    placed = true;
    if (running(world, trial, job) >= job.min) break;
  }
  if (!placed || running(world, trial, job) < job.min) return false;
  placement = std::move(trial);
  return turn.next < job.pods;
}

}  // namespace

std::string pod_name(const Job& job, std::int64_t number) {
  return job.name + "-w-" + std::to_string(number);
}

Placement schedule(const World& world) {
  Placement out;
  std::vector<Turn> turns;
  for (const Job& job : world.jobs) turns.push_back({&job});
  while (!turns.empty()) {
    auto best = turns.begin();
    for (auto one = turns.begin(); one != turns.end(); ++one) {
      const Queue &mine = queue_of(world, *one->job), &theirs = queue_of(world, *best->job);
      const bool before = &mine == &theirs ? job_before(world, out, *one->job, *best->job)
                                           : queue_before(world, out, mine, theirs);
      if (before) best = one;
    }
    if (!take_turn(world, out, *best)) turns.erase(best);
  }
  return out;
}

std::vector<std::string> violations(const World& world, const Placement& placement) {
  std::vector<std::string> out;
  for (const Node& node : world.nodes) {
    const Amounts used = used_on(world, placement, node.name);
    if (used.cpu > node.all.cpu || used.memory > node.all.memory ||
        pods_on(placement, node.name) > node.pods) {
      out.push_back("node " + node.name + " is over-committed");
    }
  }
  for (const Queue& queue : world.queues) {
    if (cpu_in(world, placement, queue.name) > limit_of(world, queue))
      out.push_back("queue " + queue.name + " holds more than its limit");
  }
  for (const Job& job : world.jobs) {
    const std::int64_t count = running(world, placement, job);
    if (count > 0 && count < job.min) out.push_back("gang " + job.name + " runs in part");
  }
  return out;
}

std::vector<std::string> idle_for_no_reason(const World& world, const Placement& placement) {
  std::vector<std::string> out;
  for (const Job& job : world.jobs) {
    if (running(world, placement, job) > 0) continue;
    std::int64_t room = 0;
    for (const Node& node : world.nodes) {
      const Amounts used = used_on(world, placement, node.name);
      std::int64_t here = node.pods - pods_on(placement, node.name);
      if (job.each.cpu > 0) here = std::min(here, (node.all.cpu - used.cpu) / job.each.cpu);
      if (job.each.memory > 0)
        here = std::min(here, (node.all.memory - used.memory) / job.each.memory);
      room += std::max<std::int64_t>(here, 0);
    }
    const bool allowed = may_have(world, placement, queue_of(world, job), job.min * job.each.cpu);
    if (room >= job.min && allowed) out.push_back(job.name);
  }
  return out;
}

}  // namespace krater::scheduler::naive
