// The scheduler's arithmetic and its promises, without a client: shares, water filling, scores,
// allocation against a naive oracle, determinism, and what happens when a bind fails.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/yaml.h"
#include "scheduler/plugins/fair_tree.h"
#include "scheduler/plugins/queue_accounts.h"
#include "scheduler/plugins/score_math.h"
#include "scheduler/plugins/water_fill.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

Resource cpu(std::int64_t milli) {
  Resource out;
  out.set(kCpu, milli);
  return out;
}

Json yaml(std::string_view text) {
  Result<Json> out = parse_yaml(text);
  EXPECT_TRUE(out.has_value()) << text;
  return *out;
}

TEST(Share, ComparesExactlyWhereFloatsCannot) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(Share(big - 1, big) < Share(big, big));
  EXPECT_TRUE(Share(1, 3) == Share(2, 6));
  EXPECT_TRUE(Share(0, 0) == Share(0, 5));
  EXPECT_TRUE(Share(7, 0) == Share(1, 1));
}

TEST(Resource, LargeAmountsAreCountedAsTheyAre) {
  ResourceNames names;
  const auto memory = [&](std::string_view text) {
    return Resource::from(ResourceList{{"memory", Quantity::parse(text)->value()}}, names);
  };
  struct Case {
    std::string_view request, room;
    bool fits;
  };
  for (const Case& one :
       {Case{"1Ti", "1Ti", true}, Case{"1025Gi", "1Ti", false}, Case{"3Pi", "4Pi", true},
        Case{"4097Ti", "4Pi", false}, Case{"1Ei", "1Ei", true}, Case{"1025Pi", "1Ei", false}}) {
    EXPECT_EQ(memory(one.request).fits_in(memory(one.room)), one.fits) << one.request;
  }
  EXPECT_EQ(names.text(kMemory, memory("5Pi").at(kMemory)), "memory 5Pi");
  // A hundred million cores.
  const Resource cores = Resource::from(ResourceList{{"cpu", 100'000'000'000}}, names);
  EXPECT_EQ(cores.at(kCpu), 100'000'000'000);
  // What is absurd is counted as the most there is.
  EXPECT_EQ(memory("7Ei").at(kMemory), kMostAmount);
  EXPECT_EQ(Bounds::from(ResourceList{{"memory", INT64_MAX}}, names).at(kMemory), kMostAmount);
  EXPECT_TRUE(Bounds::from(ResourceList{{"memory", INT64_MAX}}, names).has(kMemory));
}

TEST(Resource, WhatWasAddedCanBeTakenAwayHoweverMuchItWas) {
  ResourceNames names;
  const Resource one = Resource::from(ResourceList{{"memory", std::int64_t{1} << 60}}, names);
  const Resource small = Resource::from(ResourceList{{"memory", 7}}, names);
  Resource sum = small;
  for (int i = 0; i < 1000; ++i) sum += one;
  EXPECT_EQ(sum.at(kMemory), kMostAmount);
  EXPECT_FALSE(sum.fits_in(one + one + one));
  for (int i = 0; i < 1000; ++i) sum -= one;
  EXPECT_EQ(sum, small);
  for (int i = 0; i < 1000; ++i) sum -= one;
  EXPECT_EQ(sum.at(kMemory), -kMostAmount);
  EXPECT_TRUE(sum.clamped().is_zero());
}

TEST(Resource, OnlyWhatIsAskedForIsCompared) {
  Resource room = cpu(1000);
  room.set(kMemory, -5);
  EXPECT_TRUE(cpu(1000).fits_in(room));
  EXPECT_FALSE(cpu(1001).fits_in(room));
}

TEST(WaterFill, WhatOneDoesNotAskForTheOthersGet) {
  std::vector<Claimant> all{{1, cpu(1000), cpu(10000), {}},
                            {1, cpu(9000), cpu(10000), {}},
                            {2, cpu(9000), cpu(10000), {}}};
  water_fill(cpu(10000), all);
  EXPECT_EQ(all[0].deserved.at(kCpu), 1000);
  EXPECT_NEAR(static_cast<double>(all[1].deserved.at(kCpu)), 3000, 2);
  EXPECT_NEAR(static_cast<double>(all[2].deserved.at(kCpu)), 6000, 2);
}

TEST(WaterFill, KeepsLimitsAndGuarantees) {
  std::vector<Claimant> all{{1, cpu(9000), cpu(2000), {}}, {1, cpu(0), cpu(10000), cpu(3000)}};
  water_fill(cpu(10000), all);
  EXPECT_EQ(all[0].deserved.at(kCpu), 2000);
  EXPECT_EQ(all[1].deserved.at(kCpu), 3000);
}

TEST(RealCapability, IsWhatOthersGuaranteesLeave) {
  const Resource guarantee = cpu(1000);
  Bounds capability;
  capability.set(kCpu, 8000);
  EXPECT_EQ(real_capability(cpu(8000), cpu(4000), guarantee, capability).at(kCpu), 5000);
  capability.set(kCpu, 2000);
  EXPECT_EQ(real_capability(cpu(8000), cpu(4000), guarantee, capability).at(kCpu), 2000);
  capability.set(kCpu, 0);  // as if unset
  EXPECT_EQ(real_capability(cpu(8000), cpu(4000), guarantee, capability).at(kCpu), 5000);
  EXPECT_EQ(real_capability(cpu(3000), cpu(4000), guarantee, capability).at(kCpu),
            1000);  // a shrunk cluster clamps at zero
}

NodeInfo node_with(std::int64_t milli, std::int64_t bytes, std::int64_t used_milli,
                   std::int64_t used_bytes) {
  NodeSpec spec;
  spec.allocatable = cpu(milli);
  spec.allocatable.set(kMemory, bytes);
  NodeInfo node;
  node.used = cpu(used_milli);
  node.used.set(kMemory, used_bytes);
  node.spec = std::make_shared<const NodeSpec>(spec);
  return node;
}

TEST(Scores, FollowTheirFormulas) {
  const NodeInfo node = node_with(4000, 1000, 1000, 0);
  Resource request = cpu(1000);
  request.set(kMemory, 250);
  // Whole points, but for binpack's.
  EXPECT_EQ(most_requested(request, node), 37 * kPoint);
  EXPECT_EQ(least_requested(request, node), 62 * kPoint);
  // Of cpu 25% and of memory nothing is used (88 points, rounded down 87); with the pod 50% and
  // 25%.
  EXPECT_EQ(balanced_use(request, node, std::nullopt), 75 * kPoint);
  Resource memory;
  memory.set(kMemory, 250);  // 25% of both: even, 13 points gained
  EXPECT_EQ(balanced_use(memory, node, std::nullopt), 81 * kPoint);
  EXPECT_EQ(balanced_use(cpu(2000), node, std::nullopt), 62 * kPoint);  // 75% and nothing
  EXPECT_EQ(balanced_use(Resource(), node, std::nullopt), 0);
  EXPECT_EQ(binpack_score(request, node, {{kCpu, 3}, {kMemory, 1}}, 2),
            2 * (3 * 50 + 25) * kPoint / 4);
  EXPECT_EQ(binpack_score(cpu(3001), node, {{kCpu, 1}}, 1), 0);
}

TEST(Bind, AGangIsBoundInOneTransactionOrNotAtAll) {
  Harness cluster;
  int refusals = 1;
  cluster.client.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* bind = std::get_if<client::BindWrite>(&write);
    if (bind == nullptr || bind->pod != "w-1" || refusals == 0) return std::nullopt;
    --refusals;
    return make_error(Code::Conflict, "somebody was faster");
  };
  cluster.add(
      yaml("{nodes: [{name: n1, cpu: 4}], queues: [{name: default}], groups: [{name: g, min: 3}], "
           "pods: [{name: w, count: 3, group: g, cpu: 1}]}"));
  cluster.loop.advance(5ms);
  EXPECT_EQ(cluster.scheduler.metrics().bind_failures, 1U);
  for (const char* pod : {"w-0", "w-1", "w-2"}) EXPECT_EQ(cluster.node_of(pod), "") << pod;
  cluster.settle();
  for (const char* pod : {"w-0", "w-1", "w-2"}) EXPECT_EQ(cluster.node_of(pod), "n1") << pod;
  EXPECT_EQ(cluster.scheduler.metrics().binds, 3U);
}

constexpr std::string_view kPreempting =
    "{config: '{actions: \"enqueue, allocate, preempt\", tiers: [{plugins: [{name: priority}, "
    "{name: "
    "gang, enablePreemptable: false}, {name: predicates}]}]}', classes: [{name: high, value: 9}], "
    "nodes: [{name: n1, cpu: 2}], queues: [{name: default}], groups: [{name: low, min: 2, phase: "
    "Running}], pods: [{name: low-w, count: 2, group: low, cpu: 1, node: n1, phase: Running}]}";
constexpr std::string_view kClaimant =
    "{groups: [{name: high, min: 1, priorityClass: high}], pods: [{name: high-w, group: high, cpu: "
    "1}]}";

TEST(Evict, IsOneTransactionOrNothing) {
  Harness cluster;
  cluster.add(yaml(kPreempting));
  cluster.settle();
  int refusals = 1;
  cluster.client.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* gone = std::get_if<client::DeleteWrite>(&write);
    if (gone == nullptr || gone->name != "low-w-1" || refusals == 0) return std::nullopt;
    --refusals;
    return make_error(Code::Unavailable, "not now");
  };
  cluster.add(yaml(kClaimant));
  cluster.loop.advance(5ms);
  EXPECT_EQ(cluster.scheduler.metrics().eviction_failures, 1U);
  EXPECT_TRUE(cluster.leaving().empty());
  cluster.settle();
  EXPECT_EQ(cluster.leaving(), (std::vector<std::string>{"low-w-0", "low-w-1"}));
  EXPECT_EQ(cluster.scheduler.metrics().evictions, 2U);
}

TEST(Evict, NobodyIsAskedTwiceWhileHeIsLeaving) {
  Harness cluster;
  cluster.add(yaml(kPreempting));
  cluster.settle();
  cluster.add(yaml(kClaimant));
  cluster.settle(30s);
  const auto deletes = std::count_if(cluster.client.writes.begin(), cluster.client.writes.end(),
                                     [](const client::Write& write) {
                                       return std::holds_alternative<client::DeleteWrite>(write);
                                     });
  EXPECT_EQ(deletes, 2);
  EXPECT_EQ(cluster.group("high").phase(), PodGroupPhase::Inqueue);
}

TEST(Evict, AGangThatFailsOnItsWayOutIsNotDone) {
  Harness cluster;
  cluster.add(yaml(kPreempting));
  cluster.settle();
  cluster.add(yaml(kClaimant));
  cluster.settle();
  cluster.run(yaml("{low-w-0: Failed, low-w-1: Failed}"));
  cluster.settle();
  EXPECT_NE(cluster.group("low").phase(), PodGroupPhase::Completed);
  cluster.leave();
  cluster.settle();
  EXPECT_EQ(cluster.group("low").phase(), PodGroupPhase::Inqueue);
}

TEST(FairTree, AGroupCountsForItsNeediestAndTheContentHoldNobodyBack) {
  FairTree tree(cpu(10000));
  const auto a = tree.add(FairTree::path_of("a", "root/one/a", "1/1/1"), cpu(4000), cpu(9000));
  const auto b = tree.add(FairTree::path_of("b", "root/one/b", "1/1/1"), cpu(1000), cpu(9000));
  const auto c = tree.add(FairTree::path_of("c", "root/two", "1/1"), cpu(3000), cpu(9000));
  tree.weigh();
  EXPECT_LT(tree.compare(b, a), 0);  // siblings by their own shares
  EXPECT_LT(tree.compare(a, c), 0);  // group one has twice b's 1000
  tree.move(b, cpu(8000), 1);        // b has all it asked for
  tree.weigh();
  EXPECT_LT(tree.compare(a, b), 0);
  EXPECT_LT(tree.compare(c, a), 0);
}

TEST(FairTree, WeightsCount) {
  FairTree tree(cpu(10000));
  const auto a = tree.add(FairTree::path_of("a", "root/a", "1/3"), cpu(3000), cpu(9000));
  const auto b = tree.add(FairTree::path_of("b", "root/b", "1/1"), cpu(2000), cpu(9000));
  tree.weigh();
  EXPECT_LT(tree.compare(a, b), 0);
}

TEST(Cycles, StartOnAChangeAndNotOtherwise) {
  Harness cluster;
  cluster.add(
      yaml("{nodes: [{name: n1, cpu: 4}], queues: [{name: default}], pods: [{name: a, cpu: 1}, "
           "{name: big, cpu: 9}]}"));
  cluster.loop.advance(4ms);
  EXPECT_EQ(cluster.node_of("a"), "n1");
  cluster.settle();
  EXPECT_EQ(cluster.scheduler.metrics().parked_jobs, 1U);
  const std::uint64_t before = cluster.scheduler.metrics().cycles;
  const std::size_t writes = cluster.client.writes.size();
  cluster.loop.advance(10s);
  EXPECT_EQ(cluster.scheduler.metrics().cycles, before);
  EXPECT_EQ(cluster.client.writes.size(), writes);
  EXPECT_TRUE(cluster.scheduler.quiet());
}

// First fit over what is left, with no scores, boards or shared answers: who could be placed at
// all?
std::size_t naive_count(std::vector<std::int64_t> idle,
                        const std::vector<std::pair<int, std::int64_t>>& gangs) {
  std::size_t placed = 0;
  for (const auto& gang : gangs) {
    const int members = gang.first;
    const std::int64_t size = gang.second;
    std::vector<std::int64_t> trial = idle;
    int found = 0;
    for (int m = 0; m < members; ++m) {
      const auto node =
          std::find_if(trial.begin(), trial.end(), [&](std::int64_t room) { return room >= size; });
      if (node == trial.end()) break;
      *node -= size;
      ++found;
    }
    if (found < members) continue;
    idle = trial;
    ++placed;
  }
  return placed;
}

// One size for all members makes every greedy placement equally good, so the oracle's count is the
// right one.
TEST(Allocate, PlacesAsManyGangsAsANaiveOracleAndNeverOverfillsANode) {
  SeededRng rng(11);
  for (int round = 0; round < 25; ++round) {
    Harness cluster;
    std::vector<std::int64_t> idle;
    std::string nodes, groups, pods;
    const int node_count = 1 + static_cast<int>(rng.below(5));
    for (int n = 0; n < node_count; ++n) {
      idle.push_back(1000 * (1 + static_cast<std::int64_t>(rng.below(6))));
      nodes += "{name: n" + std::to_string(n) + ", cpu: " + std::to_string(idle.back()) + "m},";
    }
    const std::int64_t size = 500 * (1 + static_cast<std::int64_t>(rng.below(4)));
    std::vector<std::pair<int, std::int64_t>> gangs;
    const int gang_count = 1 + static_cast<int>(rng.below(6));
    for (int g = 0; g < gang_count; ++g) {
      gangs.emplace_back(1 + static_cast<int>(rng.below(5)), size);
      const std::string name = "g" + std::to_string(g);
      groups += "{name: " + name + ", min: " + std::to_string(gangs.back().first) + "},";
      pods += "{name: " + name + "-w, count: " + std::to_string(gangs.back().first) +
              ", group: " + name + ", cpu: " + std::to_string(size) + "m},";
    }
    // Weighted fairness is not the question here: no queue plugin.
    cluster.add(
        yaml("{config: '{actions: \"enqueue, allocate\", tiers: [{plugins: [{name: gang}, {name: "
             "predicates}, {name: nodeorder}, {name: binpack}]}]}', "
             "queues: [{name: default}], nodes: [" +
             nodes + "]}"));
    cluster.settle();
    cluster.add(yaml("{groups: [" + groups + "], pods: [" + pods + "]}"));
    cluster.settle();
    std::map<std::string, std::int64_t> used;
    std::map<std::string, int> bound;
    for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
      const PodView view(pod);
      if (view.node_name().empty()) continue;
      used[view.node_name().text()] += size;
      ++bound[std::string(view.annotation("scheduling.k8s.io/group-name"))];
    }
    for (int n = 0; n < node_count; ++n)
      EXPECT_LE(used["n" + std::to_string(n)], idle[static_cast<std::size_t>(n)]);
    for (int g = 0; g < gang_count; ++g) {
      const int count = bound["g" + std::to_string(g)];
      EXPECT_TRUE(count == 0 || count == gangs[static_cast<std::size_t>(g)].first)
          << "a gang in part";
    }
    const auto whole = std::count_if(bound.begin(), bound.end(),
                                     [](const auto& entry) { return entry.second > 0; });
    EXPECT_EQ(static_cast<std::size_t>(whole), naive_count(idle, gangs)) << "round " << round;
  }
}

TEST(Allocate, DecidesTheSameEveryTime) {
  const auto decide = [] {
    Harness cluster;
    std::string nodes;
    for (int n = 0; n < 20; ++n) nodes += "{name: n" + std::to_string(n) + ", cpu: 8},";
    cluster.add(yaml("{queues: [{name: a, weight: 2}, {name: b}], nodes: [" + nodes +
                     "], groups: [{name: g, min: 4, queue: a}, {name: h, min: 6, queue: b}], "
                     "pods: [{name: g-w, count: 7, group: g, cpu: 3}, {name: h-w, count: 9, group: "
                     "h, cpu: 2}]}"));
    cluster.settle();
    std::string out;
    for (const ObjectPtr& pod : cluster.client.all(kinds::kPod))
      out += pod->name() + "=" + cluster.node_of(pod->name()) + ";";
    return out;
  };
  EXPECT_EQ(decide(), decide());
}

}  // namespace
}  // namespace krater::scheduler
