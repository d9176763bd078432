// The real scheduler, with all that is around a session, on random clusters: against the naive one,
// and what must hold while jobs come and are evicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "scheduler/testing/harness.h"
#include "scheduler/testing/naive.h"
#include "scheduler/testing/random_world.h"
#include "scheduler/testing/seeds.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kPlain = R"(actions: "allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: capacity}, {name: predicates}, {name: binpack}]
)";
constexpr std::string_view kTaking = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false, enableReclaimable: false}, {name: conformance}]
- plugins: [{name: capacity}, {name: predicates}, {name: binpack}]
)";
constexpr std::string_view kGangs = R"(actions: "allocate, backfill, gangreclaim, gangpreempt"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}, {name: capacity}]
- plugins: [{name: predicates}, {name: binpack}]
)";

constexpr WorldSize kLarge{6, 4, 10};

naive::World world_of(Rng& rng) {
  return random_world(rng, kLarge, {});
}

void add_frame(Harness& cluster, const naive::World& world, std::string_view config) {
  JsonObject things = frame_of(world);
  things["config"] = config;
  cluster.add(Json(std::move(things)));
}

void add_job(Harness& cluster, const naive::Job& job) {
  cluster.add(Json(things_of(job, {})));
}

// Who leaves has left; who is bound runs.
naive::Placement placement_of(const Harness& cluster) {
  naive::Placement out;
  for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
    const std::string node = PodView(pod).node_name().text();
    if (!node.empty() && !pod->deletion()) out.emplace(pod->name(), node);
  }
  return out;
}

void start_pods(Harness& cluster) {
  JsonObject phases;
  for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
    const PodView view(pod);
    if (!view.node_name().empty() && view.phase() == PodPhase::Pending && !pod->deletion())
      phases[pod->name()] = "Running";
  }
  cluster.run(Json(std::move(phases)));
}

std::string told(const std::vector<std::string>& problems) {
  return join(problems, "; ");
}

// Everything at once: decision for decision the same.
void compare(std::uint64_t seed) {
  SeededRng rng(seed);
  const naive::World world = world_of(rng);
  Harness cluster;
  add_frame(cluster, world, kPlain);
  for (const naive::Job& job : world.jobs) add_job(cluster, job);
  cluster.settle(std::chrono::milliseconds(100));
  EXPECT_EQ(placement_of(cluster), naive::schedule(world)) << shown(world);
}

// One job after another, with evictions: what must hold whenever it is quiet.
void watch(std::uint64_t seed, std::string_view config) {
  SeededRng rng(seed);
  const naive::World world = world_of(rng);
  Harness cluster;
  add_frame(cluster, world, config);
  cluster.settle(std::chrono::milliseconds(50));
  for (const naive::Job& job : world.jobs) {
    add_job(cluster, job);
    int rounds = 0;
    do {
      ASSERT_LT(++rounds, 30) << "somebody is evicted for ever";
      cluster.settle(std::chrono::seconds(2));
      const naive::Placement now = placement_of(cluster);
      // Of who leaves the room is still taken: nobody was put there.
      const std::vector<std::string> wrong = naive::violations(world, now);
      EXPECT_TRUE(wrong.empty()) << told(wrong);
      if (cluster.leaving().empty()) break;
      cluster.leave();
      cluster.settle(std::chrono::seconds(2));
    } while (true);
    start_pods(cluster);
    cluster.settle(std::chrono::seconds(1));
  }
  // Admission has reasons of its own.
  if (config != kGangs) return;
  std::vector<std::string> idle = naive::idle_for_no_reason(world, placement_of(cluster));
  // Who was evicted is not made again here.
  std::erase_if(idle, [&](const std::string& job) {
    const auto known = std::find_if(world.jobs.begin(), world.jobs.end(),
                                    [&](const naive::Job& one) { return one.name == job; });
    for (std::int64_t i = 0; i < known->pods; ++i) {
      if (cluster.client.read(kinds::kPod, "d", naive::pod_name(*known, i)) == nullptr) return true;
    }
    return false;
  });
  EXPECT_TRUE(idle.empty()) << told(idle) << " could run";
}

// A queue that gives nothing back loses nobody to other queues, and nobody falls below what is
// guaranteed to his queue: read from the decisions.
void guard(std::uint64_t seed, std::string_view config) {
  SeededRng rng(seed);
  const naive::World world = world_of(rng);
  Harness cluster;
  add_frame(cluster, world, config);
  for (const naive::Job& job : world.jobs) {
    const naive::Placement before = placement_of(cluster);
    add_job(cluster, job);
    cluster.settle(std::chrono::seconds(2));
    std::map<std::string, std::int64_t> pods;  // that each job loses
    for (const std::string& line : cluster.decisions) {
      if (line.find("verdict=evicted") == std::string::npos ||
          line.find("reclaim") == std::string::npos) {
        continue;
      }
      for (const naive::Job& victim : world.jobs) {
        for (std::int64_t i = 0; i < victim.pods; ++i) {
          const std::string pod = naive::pod_name(victim, i);
          // Who came meanwhile and left again takes nothing away.
          if (before.contains(pod) && line.find("pods=d/" + pod + " ") != std::string::npos)
            ++pods[victim.name];
        }
      }
    }
    cluster.decisions.clear();
    std::set<std::string> losers;
    std::map<std::string, naive::Amounts> lost;
    for (const naive::Job& victim : world.jobs) {
      if (!pods.contains(victim.name)) continue;
      losers.insert(victim.queue);
      const auto left = std::count_if(before.begin(), before.end(), [&](const auto& entry) {
        return entry.first.starts_with(victim.name + "-w-");
      });
      // A gang that reclaim breaks goes whole, whatever its queue holds then: what it leaves beyond
      // what was asked for is its queue's to use.
      const bool whole = config != kGangs && pods[victim.name] == left;
      if (!whole)
        lost[victim.queue] =
            naive::plus(lost[victim.queue], naive::times(victim.each, pods[victim.name]));
    }
    for (const naive::Queue& queue : world.queues) {
      if (!losers.contains(queue.name)) continue;
      EXPECT_TRUE(queue.reclaimable) << queue.name;
      const naive::Amounts held = naive::held(world, before, queue);
      const naive::Amounts floor = naive::guarantee_of(world, queue);
      for (const std::size_t kind : {naive::kCpu, naive::kMemory})
        EXPECT_GE(held[kind] - lost[queue.name][kind], std::min(held[kind], floor[kind]))
            << queue.name;
    }
    cluster.leave();
    cluster.settle(std::chrono::seconds(2));
    start_pods(cluster);
    cluster.settle(std::chrono::seconds(1));
  }
}

TEST(Differential, AllocateDecidesAsTheNaiveSchedulerDoes) {
  each_seed(3, compare);
}

TEST(Differential, PreemptAndReclaimKeepEveryLimit) {
  each_seed(5, [](std::uint64_t seed) { watch(seed, kTaking); });
}

TEST(Differential, GangEvictionsKeepEveryLimit) {
  each_seed(5, [](std::uint64_t seed) { watch(seed, kGangs); });
}

TEST(Differential, QueuesThatGiveNothingLoseNothing) {
  each_seed(10, [](std::uint64_t seed) { guard(seed, kTaking); });
  each_seed(10, [](std::uint64_t seed) { guard(seed, kGangs); });
}

}  // namespace
}  // namespace krater::scheduler
