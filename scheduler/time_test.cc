// Jobs that wait for nothing but a time: looked at when it comes, and not before. The pretended
// cluster begins at 2026-01-01T00:00:00Z.
#include <gtest/gtest.h>

#include <map>

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

// Eight nodes of one place each, never free for longer than a moment: small pods of five seconds
// come without end. The gang of eight is more important than they are, but its places come one by
// one.
TEST(Time, AGangThatSmallJobsOvertakeStartsSoonAfterItHasWaitedAsLongAsItMay) {
  Harness cluster;
  cluster.add(yaml(config("enqueue, allocate, backfill",
                          "{name: priority}, {name: gang}, {name: sla, arguments: "
                          "{sla-waiting-time: 60s}}, {name: predicates}")));
  cluster.add(yaml("{classes: [{name: high, value: 9}], queues: [{name: default}]}"));
  for (int n = 0; n < 8; ++n)
    cluster.add(yaml("{nodes: [{name: n" + std::to_string(n) + ", cpu: 1}]}"));
  std::map<std::string, int> small;  // second in which it got its node; -1: not yet
  int made = 0, second = 0, started = -1;
  // The first ones come two a second, so that they do not end together either.
  const auto step = [&] {
    int waiting = 0;
    for (auto& [name, since] : small) {
      if (since < 0 && !cluster.node_of(name).empty()) {
        since = second;
        cluster.run(yaml("{" + name + ": Running}"));
      }
      if (since < 0) ++waiting;
    }
    std::erase_if(small, [&](const auto& one) {
      const bool over = one.second >= 0 && second - one.second >= 5;
      if (over) cluster.run(yaml("{" + one.first + ": Succeeded}"));
      return over;
    });
    for (int want = second < 5 ? 2 : 8; waiting < want; ++waiting) {
      const std::string name = "s" + std::to_string(made++);
      cluster.add(yaml("{groups: [{name: " + name + ", min: 1}], pods: [{name: " + name +
                       ", group: " + name + ", cpu: 1}]}"));
      small.emplace(name, -1);
    }
    cluster.loop.advance(1s);
    ++second;
    if (started < 0 && second > 10 && !cluster.node_of("big-7").empty()) started = second;
  };
  while (second < 10) step();
  cluster.add(
      yaml("{groups: [{name: big, min: 8, priorityClass: high}], pods: [{name: big, "
           "count: 8, group: big, cpu: 1}]}"));
  while (second < 90) step();
  EXPECT_GT(started, 10 + 60) << "they do not overtake it";
  EXPECT_LE(started, 10 + 60 + 5 + 1);
  EXPECT_GT(made, 100);
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
