// The real scheduler against the naive one, on random clusters. A seed that fails is told and can
// be run alone: KRATER_SCHEDULER_SEED=<seed>. KRATER_SCHEDULER_SEEDS: how many; of slow checks
// fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/strings.h"
#include "scheduler/testing/harness.h"
#include "scheduler/testing/naive.h"

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

std::int64_t number(SeededRng& rng, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(most - least + 1));
}

naive::World random_world(SeededRng& rng) {
  naive::World out;
  const std::int64_t nodes = number(rng, 1, 6), queues = number(rng, 1, 4),
                     jobs = number(rng, 1, 10);
  for (std::int64_t i = 0; i < nodes; ++i) {
    out.nodes.push_back({"n" + std::to_string(i),
                         {number(rng, 1, 8) * 1000, number(rng, 1, 8) << 30},
                         number(rng, 0, 3) == 0 ? number(rng, 1, 4) : 110});
  }
  for (std::int64_t i = 0; i < queues; ++i) {
    naive::Queue queue{"q" + std::to_string(i)};
    if (number(rng, 0, 2) > 0) queue.deserved_cpu = number(rng, 0, 10) * 1000;
    if (number(rng, 0, 3) == 0) queue.capability_cpu = number(rng, 1, 12) * 1000;
    if (number(rng, 0, 3) == 0) queue.guarantee_cpu = number(rng, 1, 4) * 1000;
    queue.priority = number(rng, 0, 4) == 0 ? 5 : 0;
    queue.reclaimable = number(rng, 0, 4) > 0;
    out.queues.push_back(std::move(queue));
  }
  for (std::int64_t i = 0; i < jobs; ++i) {
    naive::Job job{"j" + std::to_string(i), "q" + std::to_string(number(rng, 0, queues - 1))};
    job.pods = number(rng, 1, 6);
    job.min = number(rng, 1, job.pods);
    job.priority = number(rng, 0, 2) * 10;
    job.each = {number(rng, 1, 6) * 500, number(rng, 0, 3) << 29};
    out.jobs.push_back(std::move(job));
  }
  return out;
}

Json quantities_of(std::int64_t cpu) {
  JsonObject out;
  out["cpu"] = std::to_string(cpu) + "m";
  return out;
}

void add_frame(Harness& cluster, const naive::World& world, std::string_view config) {
  JsonObject things;
  things["config"] = config;
  JsonArray nodes, queues, classes;
  for (const naive::Node& node : world.nodes) {
    nodes.push_back(JsonObject{{"name", node.name},
                               {"cpu", std::to_string(node.all.cpu) + "m"},
                               {"memory", std::to_string(node.all.memory)},
                               {"pods", node.pods}});
  }
  for (const naive::Queue& queue : world.queues) {
    JsonObject one{
        {"name", queue.name}, {"priority", queue.priority}, {"reclaimable", queue.reclaimable}};
    if (queue.deserved_cpu) one["deserved"] = quantities_of(*queue.deserved_cpu);
    if (queue.capability_cpu) one["capability"] = quantities_of(*queue.capability_cpu);
    if (queue.guarantee_cpu > 0) one["guarantee"] = quantities_of(queue.guarantee_cpu);
    queues.push_back(std::move(one));
  }
  for (const std::int64_t value : {0, 10, 20})
    classes.push_back(JsonObject{{"name", "p" + std::to_string(value)}, {"value", value}});
  things["nodes"] = std::move(nodes);
  things["queues"] = std::move(queues);
  things["classes"] = std::move(classes);
  cluster.add(Json(std::move(things)));
}

void add_job(Harness& cluster, const naive::Job& job) {
  JsonObject group{{"name", job.name},
                   {"min", job.min},
                   {"queue", job.queue},
                   {"priorityClass", "p" + std::to_string(job.priority)}};
  JsonObject needs = quantities_of(job.each.cpu * job.min).get_object();
  group["minResources"] = needs;
  JsonArray pods;
  for (std::int64_t i = 0; i < job.pods; ++i) {
    JsonObject pod{{"name", naive::pod_name(job, i)},
                   {"group", job.name},
                   {"cpu", std::to_string(job.each.cpu) + "m"}};
    if (job.each.memory > 0) pod["memory"] = std::to_string(job.each.memory);
    pods.push_back(std::move(pod));
  }
  cluster.add(Json(JsonObject{{"groups", JsonArray{std::move(group)}}, {"pods", std::move(pods)}}));
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

std::string shown(const naive::World& world) {
  std::string out;
  for (const naive::Node& node : world.nodes) {
    out += "\nnode " + node.name + " cpu " + std::to_string(node.all.cpu) + " memory " +
           std::to_string(node.all.memory) + " pods " + std::to_string(node.pods);
  }
  const auto some = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string("unset");
  };
  for (const naive::Queue& queue : world.queues) {
    out += "\nqueue " + queue.name + " deserved " + some(queue.deserved_cpu) + " capability " +
           some(queue.capability_cpu) + " guarantee " + std::to_string(queue.guarantee_cpu) +
           " priority " + std::to_string(queue.priority);
  }
  for (const naive::Job& job : world.jobs) {
    out += "\njob " + job.name + " in " + job.queue + " priority " + std::to_string(job.priority) +
           ", " + std::to_string(job.min) + " of " + std::to_string(job.pods) + " with cpu " +
           std::to_string(job.each.cpu) + " memory " + std::to_string(job.each.memory);
  }
  return out;
}

// Everything at once: decision for decision the same.
void compare(std::uint64_t seed) {
  SeededRng rng(seed);
  const naive::World world = random_world(rng);
  Harness cluster;
  add_frame(cluster, world, kPlain);
  for (const naive::Job& job : world.jobs) add_job(cluster, job);
  cluster.settle(std::chrono::milliseconds(100));
  EXPECT_EQ(placement_of(cluster), naive::schedule(world)) << shown(world);
}

// One job after another, with evictions: what must hold whenever it is quiet.
void watch(std::uint64_t seed, std::string_view config) {
  SeededRng rng(seed);
  const naive::World world = random_world(rng);
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
  const naive::World world = random_world(rng);
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
    std::map<std::string, std::int64_t> lost;
    for (const naive::Job& victim : world.jobs) {
      if (!pods.contains(victim.name)) continue;
      losers.insert(victim.queue);
      const auto left = std::count_if(before.begin(), before.end(), [&](const auto& entry) {
        return entry.first.starts_with(victim.name + "-w-");
      });
      // A gang that reclaim breaks goes whole, whatever its queue holds then: what it leaves beyond
      // what was asked for is its queue's to use.
      const bool whole = config != kGangs && pods[victim.name] == left;
      lost[victim.queue] += whole ? 0 : pods[victim.name] * victim.each.cpu;
    }
    for (const naive::Queue& queue : world.queues) {
      if (!losers.contains(queue.name)) continue;
      EXPECT_TRUE(queue.reclaimable) << queue.name;
      const std::int64_t held = naive::cpu_in(world, before, queue.name);
      EXPECT_GE(held - lost[queue.name], std::min(held, naive::guarantee_of(world, queue)))
          << queue.name;
    }
    cluster.leave();
    cluster.settle(std::chrono::seconds(2));
    start_pods(cluster);
    cluster.settle(std::chrono::seconds(1));
  }
}

template <typename Check>
void each_seed(std::uint64_t part, Check check) {
  const char* one = std::getenv("KRATER_SCHEDULER_SEED");
  if (one != nullptr) return check(std::strtoull(one, nullptr, 10));
  const char* many = std::getenv("KRATER_SCHEDULER_SEEDS");
  const std::uint64_t count = (many == nullptr ? 100 : std::strtoull(many, nullptr, 10)) / part + 1;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE("KRATER_SCHEDULER_SEED=" + std::to_string(seed));
    check(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Differential, AllocateDecidesAsTheNaiveSchedulerDoes) {
  each_seed(1, compare);
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
