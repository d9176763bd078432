// A scheduler that is slow and plain, to compare the real one with: everything is worked out anew
// at every step, nothing is kept, shared or remembered. Same rules (allocate with plugins priority,
// gang, capacity, predicates, binpack), other code. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace krater::scheduler::naive {

struct Amounts {
  std::int64_t cpu = 0, memory = 0;  // milli, bytes
};

struct Node {
  std::string name;
  Amounts all{};
  std::int64_t pods = 110;
};

struct Queue {
  std::string name;
  std::optional<std::int64_t> deserved_cpu{}, capability_cpu{};  // milli
  std::int64_t guarantee_cpu = 0, priority = 0;
  bool reclaimable = true;
};

struct Job {
  std::string name, queue;
  std::int64_t priority = 0, min = 1, pods = 1;
  Amounts each{};
};

struct World {
  std::vector<Node> nodes{};    // by name
  std::vector<Queue> queues{};  // by name
  std::vector<Job> jobs{};      // by name
};

// The node of every pod ("<job>-w-<number>") that runs, by name.
using Placement = std::map<std::string, std::string>;

std::string pod_name(const Job& job, std::int64_t number);
// What one cycle on the empty cluster decides.
Placement schedule(const World& world);

// What is kept for a queue: no more than it may hold at all, and nothing of a guarantee that is
// more than there is.
std::int64_t guarantee_of(const World& world, const Queue& queue);
// What a queue holds.
std::int64_t cpu_in(const World& world, const Placement& placement, const std::string& queue);
// What is wrong with a placement: a node over-committed, a queue over its limit, a gang in part.
std::vector<std::string> violations(const World& world, const Placement& placement);
// Jobs of which nothing runs although their gang would fit beside what runs: exact, as all pods of
// a job are alike.
// Their names.
std::vector<std::string> idle_for_no_reason(const World& world, const Placement& placement);

}  // namespace krater::scheduler::naive
