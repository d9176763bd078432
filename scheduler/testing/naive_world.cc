#include "scheduler/testing/naive_world.h"

#include <algorithm>

#include "base/check.h"

namespace krater::scheduler::naive {
namespace {

template <typename Thing>
const Thing& named(const std::vector<Thing>& things, const std::string& name) {
  const auto place = std::find_if(things.begin(), things.end(),
                                  [&](const Thing& one) { return one.name == name; });
  CHECK(place != things.end());
  return *place;
}

}  // namespace

Amounts plus(const Amounts& a, const Amounts& b) {
  return {a[kCpu] + b[kCpu], a[kMemory] + b[kMemory], a[kPods] + b[kPods]};
}
Amounts minus(const Amounts& a, const Amounts& b) {
  return {a[kCpu] - b[kCpu], a[kMemory] - b[kMemory], a[kPods] - b[kPods]};
}
Amounts times(const Amounts& a, std::int64_t count) {
  return {a[kCpu] * count, a[kMemory] * count, a[kPods] * count};
}
bool fits_in(const Amounts& a, const Amounts& room) {
  return a[kCpu] <= room[kCpu] && a[kMemory] <= room[kMemory] && a[kPods] <= room[kPods];
}

std::string pod_name(const Job& job, std::int64_t number) {
  return job.name + "-w-" + std::to_string(number);
}
const Job& job_of(const World& world, const std::string& pod) {
  return job_named(world, pod.substr(0, pod.find('-')));
}
const Job& job_named(const World& world, const std::string& name) {
  return named(world.jobs, name);
}
const Node& node_named(const World& world, const std::string& name) {
  return named(world.nodes, name);
}
const Queue& queue_named(const World& world, const std::string& name) {
  return named(world.queues, name);
}

std::vector<const Queue*> path(const World& world, const Queue& queue) {
  std::vector<const Queue*> out{&queue};
  while (world.rules.tree && !out.back()->parent.empty())
    out.push_back(&queue_named(world, out.back()->parent));
  return out;
}
std::vector<const Queue*> siblings(const World& world, const Queue& queue) {
  std::vector<const Queue*> out;
  for (const Queue& one : world.queues) {
    if (one.parent == queue.parent) out.push_back(&one);
  }
  return out;
}
std::vector<const Queue*> children(const World& world, const Queue& queue) {
  std::vector<const Queue*> out;
  for (const Queue& one : world.queues) {
    if (one.parent == queue.name) out.push_back(&one);
  }
  return out;
}

Amounts all_there_is(const World& world) {
  Amounts out{};
  for (const Node& node : world.nodes) out = plus(out, node.all);
  return out;
}
Amounts used_on(const World& world, const Placement& placement, const Node& node) {
  Amounts out{};
  for (const auto& [pod, where] : placement) {
    if (where == node.name) out = plus(out, job_of(world, pod).each);
  }
  return out;
}
Amounts held(const World& world, const Placement& placement, const Queue& queue) {
  Amounts out{};
  for (const Job& job : world.jobs) {
    for (const Queue* at : path(world, queue_named(world, job.queue))) {
      if (at == &queue) out = plus(out, times(job.each, placed(placement, job)));
    }
  }
  return out;
}
Amounts held_by_all(const World& world, const Placement& placement) {
  Amounts out{};
  for (const Job& job : world.jobs) out = plus(out, times(job.each, placed(placement, job)));
  return out;
}
std::int64_t placed(const Placement& placement, const Job& job) {
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < job.pods; ++i) out += placement.contains(pod_name(job, i)) ? 1 : 0;
  return out;
}
Amounts asked_for(const World& world, const Queue& queue) {
  Amounts out{};
  for (const Job& job : world.jobs) {
    if (job.queue == queue.name) out = plus(out, times(job.each, job.pods));
  }
  return out;
}
bool has_jobs(const World& world, const Queue& queue) {
  return std::any_of(world.jobs.begin(), world.jobs.end(),
                     [&](const Job& job) { return job.queue == queue.name; });
}

}  // namespace krater::scheduler::naive
