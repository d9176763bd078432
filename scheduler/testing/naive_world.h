// The clusters on which the real scheduler is compared with a naive one, which is slow and plain:
// everything is worked out anew at every step, nothing is kept, shared or remembered. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace krater::scheduler::naive {

// Of cpu in milli, memory in bytes, pods.
inline constexpr std::size_t kCpu = 0, kMemory = 1, kPods = 2, kKinds = 3;
using Amounts = std::array<std::int64_t, kKinds>;
using Wishes = std::array<std::optional<std::int64_t>, kKinds>;  // nullopt: nothing was said

Amounts plus(const Amounts& a, const Amounts& b);
Amounts minus(const Amounts& a, const Amounts& b);
Amounts times(const Amounts& a, std::int64_t count);
// In every kind.
bool fits_in(const Amounts& a, const Amounts& room);

struct Node {
  std::string name;
  Amounts all{};
};

struct Queue {
  std::string name;
  std::string parent{};  // "": right below root
  Wishes deserved{}, capability{};
  Amounts guarantee{};
  std::int64_t weight = 1, priority = 0;
  bool reclaimable = true;
};

// All pods of a job are alike.
struct Job {
  std::string name, queue;
  std::int64_t priority = 0, min = 1, pods = 1;
  Amounts each{};
};

// What the configuration says.
struct Rules {
  bool tree = false;          // capacity with enableHierarchy
  bool proportion = false;    // in place of capacity
  bool drf = false;           // orders jobs after priority and gang, and lets preempt take less
  bool gangs_keep = false;    // gang lets preempt and reclaim take only what gangs can do without
  bool queues_asked = false;  // capacity or proportion has a say in who is reclaimed
};

struct World {
  Rules rules{};
  std::vector<Node> nodes{};    // by name
  std::vector<Queue> queues{};  // by name; jobs are in those without queues below
  std::vector<Job> jobs{};      // by name
};

// The node of every pod ("<job>-w-<number>") that has one, by name.
using Placement = std::map<std::string, std::string>;

std::string pod_name(const Job& job, std::int64_t number);
const Job& job_of(const World& world, const std::string& pod);
const Job& job_named(const World& world, const std::string& name);
const Node& node_named(const World& world, const std::string& name);
const Queue& queue_named(const World& world, const std::string& name);
// The queue, its parent and so on, without root; in a world without a tree only the queue.
std::vector<const Queue*> path(const World& world, const Queue& queue);
// Those with the same parent, itself among them.
std::vector<const Queue*> siblings(const World& world, const Queue& queue);
std::vector<const Queue*> children(const World& world, const Queue& queue);

Amounts all_there_is(const World& world);
Amounts used_on(const World& world, const Placement& placement, const Node& node);
// By the queue and those below it.
Amounts held(const World& world, const Placement& placement, const Queue& queue);
Amounts held_by_all(const World& world, const Placement& placement);
std::int64_t placed(const Placement& placement, const Job& job);
// By the pods of all its jobs, with a node or without.
Amounts asked_for(const World& world, const Queue& queue);
bool has_jobs(const World& world, const Queue& queue);

}  // namespace krater::scheduler::naive
