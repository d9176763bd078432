// Jobs that wait for nothing but a time: looked at when it comes, and not before. The pretended
// cluster begins at 2026-01-01T00:00:00Z.
#include <gtest/gtest.h>

#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

std::string config(const std::string& actions, const std::string& plugins) {
  return R"({config: '{actions: ")" + actions + R"(", tiers: [{plugins: [)" + plugins + "]}]}'}";
}

// Nothing is tried until `then` after the start; `moment` later it has been.
void nothing_before(Harness& cluster, Duration then) {
  const Duration passed = cluster.loop.now().time_since_epoch();
  ASSERT_LT(passed, then);
  const std::uint64_t cycles = cluster.scheduler.metrics().cycles;
  cluster.loop.advance(then - passed - 1ms);
  EXPECT_EQ(cluster.scheduler.metrics().cycles, cycles);
  cluster.loop.advance(20ms);
  EXPECT_GT(cluster.scheduler.metrics().cycles, cycles);
}

constexpr std::string_view kCooling = R"({
  classes: [{name: high, value: 9}], nodes: [{name: n, cpu: 4}], queues: [{name: default}],
  groups: [{name: low, min: 1, phase: Running}],
  pods: [{name: early, group: low, cpu: 2, node: n, phase: Running, placed: "2026-01-01T00:00:00Z",
          annotations: {volcano.sh/cooldown-time: 8s}},
         {name: later, group: low, cpu: 2, node: n, phase: Running, placed: "2026-01-01T00:00:00Z",
          labels: {volcano.sh/cooldown-time: 20s}}]})";

TEST(Time, WhoWaitsForACooldownEvictsWhenItEnds) {
  Harness cluster;
  cluster.add(yaml(config("enqueue, allocate, preempt",
                          "{name: priority}, {name: gang, enablePreemptable: false}, {name: cdp}, "
                          "{name: predicates}")));
  cluster.add(yaml(kCooling));
  cluster.add(
      yaml("{groups: [{name: h, min: 2, priorityClass: high}, {name: other, min: 1}], pods: "
           "[{name: h, count: 2, group: h, cpu: 2}, {name: o, cpu: 9, group: other}]}"));
  cluster.settle();
  EXPECT_TRUE(cluster.leaving().empty());
  EXPECT_EQ(cluster.scheduler.metrics().parked_jobs, 2U);
  // Both are needed: the first end is not enough, and the second is waited for in turn.
  nothing_before(cluster, 8s);
  EXPECT_TRUE(cluster.leaving().empty());
  nothing_before(cluster, 20s);
  EXPECT_EQ(cluster.leaving(), (std::vector<std::string>{"early", "later"}));
}

TEST(Time, WhatACooldownKeepsFromAQueueIsReclaimedWhenItEnds) {
  Harness cluster;
  cluster.add(yaml(config("enqueue, allocate, reclaim",
                          "{name: priority}, {name: gang, enableReclaimable: false}, {name: cdp}, "
                          "{name: predicates}, {name: capacity}")));
  cluster.add(yaml(kCooling));
  cluster.add(
      yaml("{queues: [{name: mine, deserved: {cpu: 2}}], groups: [{name: h, min: 1, queue: "
           "mine}], pods: [{name: h, group: h, cpu: 2}]}"));
  cluster.settle();
  EXPECT_TRUE(cluster.leaving().empty());
  nothing_before(cluster, 8s);
  EXPECT_EQ(cluster.leaving(), (std::vector<std::string>{"early"}));
}

TEST(Time, WhoMayWaitNoLongerIsAdmittedThen) {
  Harness cluster;
  // What an earlier tier permits is permitted.
  cluster.add(yaml(R"({config: '{actions: "enqueue, allocate", tiers: [{plugins: [{name: gang}, )"
                   R"({name: sla}]}, {plugins: [{name: predicates}, {name: capacity}]}]}'})"));
  cluster.add(
      yaml("{nodes: [{name: n, cpu: 4}], queues: [{name: default, capability: {cpu: 2}}], "
           "groups: [{name: g, min: 1, minResources: {cpu: 3}, annotations: "
           "{sla-waiting-time: 40s}}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.group("g").phase(), PodGroupPhase::Pending);
  nothing_before(cluster, 40s);
  EXPECT_EQ(cluster.group("g").phase(), PodGroupPhase::Inqueue);
}

TEST(Time, AZoneOpensAndClosesToTheSecond) {
  Harness cluster;
  cluster.add(yaml(config("allocate",
                          "{name: gang}, {name: predicates}, {name: tdm, arguments: "
                          "{tdm.revocable-zone.a: \"00:01-00:02\"}}")));
  cluster.add(
      yaml("{nodes: [{name: a, cpu: 4, labels: {volcano.sh/revocable-zone: a}}], queues: "
           "[{name: default}], pods: [{name: p, cpu: 2, annotations: "
           "{volcano.sh/revocable-zone: \"*\"}}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("p"), "");
  nothing_before(cluster, 60s);
  EXPECT_EQ(cluster.node_of("p"), "a");
  // Open until its last second is over.
  const auto enter = [&](Duration at, const std::string& name) {
    cluster.loop.advance(at - cluster.loop.now().time_since_epoch());
    cluster.add(yaml("{pods: [{name: " + name +
                     ", cpu: 1, annotations: {volcano.sh/revocable-zone: \"*\"}}]}"));
    cluster.loop.advance(10ms);
    return cluster.node_of(name);
  };
  EXPECT_EQ(enter(120s, "q"), "a");
  EXPECT_EQ(enter(121s, "r"), "");
}

TEST(Time, WhatWasPromisedToPodsThatDoNotComeFallsFree) {
  Harness cluster;
  cluster.add(yaml(config("enqueue, allocate",
                          "{name: gang}, {name: resourcequota}, "
                          "{name: predicates}")));
  cluster.add(
      yaml("{nodes: [{name: n, cpu: 16}], queues: [{name: default}], quotas: [{name: team, "
           "hard: {requests.cpu: 5}, used: {requests.cpu: 0}}], groups: [{name: one, min: "
           "1, minResources: {cpu: 3}}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.group("one").phase(), PodGroupPhase::Inqueue);
  cluster.add(yaml("{groups: [{name: two, min: 1, minResources: {cpu: 3}}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.group("two").phase(), PodGroupPhase::Pending);
  cluster.settle(65s);
  EXPECT_EQ(cluster.group("two").phase(), PodGroupPhase::Inqueue);
}

}  // namespace
}  // namespace krater::scheduler
