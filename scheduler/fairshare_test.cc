// Past usage over restarts, edits of what it is kept in, and strict queues whose front changes with
// time alone. The pretended cluster begins at 2026-01-01T00:00:00Z.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

void configure(Harness& cluster, const std::string& arguments = {}) {
  cluster.add(JsonObject{{"config", R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: fairshare, arguments: {fairshare.resourceKey: cpu, fairshare.userKey: user)" +
                                        (arguments.empty() ? "" : ", " + arguments) + R"(}}]
- plugins: [{name: predicates}, {name: nodeorder}]
)"}});
}

// One pod of so many cores, for this user.
void submit(Harness& cluster, const std::string& name, const std::string& user, int cpu,
            const std::string& queue = "default") {
  cluster.add(yaml("{groups: [{name: " + name + ", min: 1, queue: " + queue +
                   ", annotations: {user: " + user + "}}], pods: [{name: " + name +
                   ", group: " + name + ", cpu: " + std::to_string(cpu) + "}]}"));
  cluster.settle(10ms);
}

ObjectPtr kept(const Harness& cluster) {
  return cluster.client.read(kinds::kConfigMap, "volcano-system", "fairshare-usage-state");
}
std::string state_of(const Harness& cluster) {
  const ObjectPtr object = kept(cluster);
  return object == nullptr ? "" : text_at(ObjectView(object).document(), {"data", "state.json"});
}
void put_state(Harness& cluster, const std::string& text) {
  Json map = new_object(kinds::kConfigMap, "volcano-system", "fairshare-usage-state");
  set_path(map, {"data", "state.json"}, Json(text));
  cluster.client.put(kinds::kConfigMap, std::move(map));
}

std::size_t writes_of_state(const Harness& cluster) {
  std::size_t out = 0;
  for (const client::Write& write : cluster.client.writes)
    out += client::key_of(write).name == "fairshare-usage-state" ? 1 : 0;
  return out;
}

// Both want all there is; whoever gets it when it falls free.
std::string winner(Harness& cluster, const std::string& first, const std::string& second) {
  cluster.add(yaml("{pods: [{name: blocker, cpu: 4, node: n, phase: Running, scheduler: other}]}"));
  submit(cluster, "try-1", first, 4);
  submit(cluster, "try-2", second, 4);
  cluster.remove(yaml("{pods: [blocker]}"));
  cluster.settle(100ms);
  return cluster.node_of("try-1") == "n" ? first : cluster.node_of("try-2") == "n" ? second : "";
}

constexpr std::string_view kSmall = "{nodes: [{name: n, cpu: 4}], queues: [{name: default}]}";

TEST(Fairshare, ARestartForgetsNothing) {
  Harness cluster;
  configure(cluster);
  cluster.add(yaml(kSmall));
  submit(cluster, "a", "alice", 4);
  cluster.settle(5min);
  cluster.remove(yaml("{pods: [a], groups: [a]}"));
  cluster.settle(1s);
  cluster.scheduler.stop();
  cluster.loop.run_ready();
  EXPECT_NE(state_of(cluster).find(R"("queues":{"default":{"alice":)"), std::string::npos)
      << state_of(cluster);
  EXPECT_NE(state_of(cluster).find(R"("measures":{"default":"cpu"})"), std::string::npos);
  EXPECT_EQ(kept(cluster)->labels(),
            (Labels{{"app", "volcano-scheduler"}, {"component", "fairshare"}}));

  cluster.add(yaml("{pods: [{name: blocker, cpu: 4, node: n, phase: Running, scheduler: other}]}"));
  submit(cluster, "a1", "alice", 4);
  submit(cluster, "b1", "bob", 4);
  cluster.remove(yaml("{pods: [blocker]}"));
  // Both are there when it comes back, with room for one.
  Scheduler second({cluster.client, cluster.loop, cluster.loop.wall(), cluster.rng});
  ASSERT_TRUE(second.start().has_value());
  cluster.settle(100ms);
  EXPECT_EQ(cluster.node_of("b1"), "n");
  EXPECT_EQ(cluster.node_of("a1"), "");
  second.stop();
}

TEST(Fairshare, WithoutItsStateItForgets) {
  Harness cluster;
  configure(cluster, "fairshare.persistState: \"false\"");
  cluster.add(yaml(kSmall));
  submit(cluster, "a", "alice", 4);
  cluster.settle(5min);
  cluster.scheduler.stop();
  cluster.loop.run_ready();
  EXPECT_EQ(kept(cluster), nullptr);
}

TEST(Fairshare, IsWrittenOnceAnIntervalAndOnlyWithNews) {
  Harness cluster;
  configure(cluster, "fairshare.flushIntervalSeconds: 60");
  cluster.add(yaml(kSmall));
  cluster.settle(10min);
  EXPECT_EQ(kept(cluster), nullptr);  // nobody has used anything
  submit(cluster, "a", "alice", 4);
  cluster.client.writes.clear();
  cluster.settle(10min);
  EXPECT_GE(writes_of_state(cluster), 9U);
  EXPECT_LE(writes_of_state(cluster), 11U);
  cluster.run(yaml("{a: Succeeded}"));
  cluster.settle(2min);
  cluster.client.writes.clear();
  cluster.settle(20min);
  // It decays by itself.
  EXPECT_EQ(writes_of_state(cluster), 0U);
}

TEST(Fairshare, NobodyWakesTheSchedulerForUsageAlone) {
  Harness cluster;
  configure(cluster);
  cluster.add(yaml(kSmall));
  submit(cluster, "a", "alice", 4);
  submit(cluster, "a1", "alice", 4);
  submit(cluster, "b1", "bob", 4);
  cluster.settle(10s);
  const std::uint64_t cycles = cluster.scheduler.metrics().cycles;
  cluster.settle(45s);
  EXPECT_EQ(cluster.scheduler.metrics().cycles, cycles);
}

TEST(Fairshare, WhatSomebodyWritesIntoTheStateCounts) {
  Harness cluster;
  configure(cluster);
  cluster.add(yaml(kSmall));
  cluster.settle(1s);
  put_state(cluster,
            R"({"lastCycle": "2026-01-01T00:00:00Z", "queues": {"default": {"alice": 4000000}}})");
  cluster.settle(1s);
  EXPECT_EQ(winner(cluster, "alice", "bob"), "bob");
}

TEST(Fairshare, ATimeInTheFutureSaysThatNoneHasPassed) {
  Harness cluster;
  put_state(cluster,
            R"({"lastCycle": "2026-01-02T00:00:00Z", "queues": {"default": {"alice": 4000000}}})");
  configure(cluster);
  cluster.add(yaml(kSmall));
  cluster.settle(1s);
  EXPECT_EQ(winner(cluster, "alice", "bob"), "bob");
}

TEST(Fairshare, DeletingTheStateForgivesEverybody) {
  Harness cluster;
  put_state(cluster,
            R"({"lastCycle": "2026-01-01T00:00:00Z", "queues": {"default": {"alice": 4000000}}})");
  configure(cluster);
  cluster.add(yaml(kSmall));
  cluster.settle(1s);
  ASSERT_TRUE(
      cluster.client
          .apply(client::DeleteWrite{kinds::kConfigMap, "volcano-system", "fairshare-usage-state"})
          .has_value());
  cluster.settle(1s);
  EXPECT_EQ(winner(cluster, "alice", "bob"), "alice");
}

TEST(Fairshare, ABrokenStateIsRefusedWithAnEventAndWrittenOver) {
  Harness cluster;
  put_state(cluster, R"({"lastCycle": "2026-01-01T00:00:00Z", "queues": {"default": ["alice"]}})");
  configure(cluster);
  cluster.add(yaml(kSmall));
  submit(cluster, "a", "alice", 4);
  cluster.settle(1s);
  EXPECT_EQ(cluster.node_of("a"), "n");
  EXPECT_TRUE(cluster.has_event("fairshare-usage-state", "InvalidFairshareState",
                                "state.json: queues.default must be a map"));
  cluster.settle(1min);
  EXPECT_NE(state_of(cluster).find(R"({"default":{"alice":)"), std::string::npos)
      << state_of(cluster);
}

TEST(Fairshare, InAStrictQueueTheFrontChangesWhenItsUserHasUsedMore) {
  Harness cluster;
  configure(cluster, "fairshare.halfLife: 1h");
  put_state(cluster,
            R"({"lastCycle": "2026-01-01T00:00:00Z", "queues": {"line": {"bob": 1200000}}})");
  cluster.add(yaml("{nodes: [{name: n, cpu: 4}], queues: [{name: line, dequeueStrategy: fifo}]}"));
  cluster.settle(1s);
  submit(cluster, "a", "alice", 3, "line");
  submit(cluster, "wide", "alice", 2, "line");
  submit(cluster, "slim", "bob", 1, "line");
  cluster.settle(10s);
  // Alice, who has used nothing, is in front and does not fit; Bob waits behind her.
  EXPECT_EQ(cluster.node_of("slim"), "");
  const std::uint64_t cycles = cluster.scheduler.metrics().cycles;
  cluster.settle(40s);
  EXPECT_EQ(cluster.scheduler.metrics().cycles, cycles);
  // 3 cores come up with 1200 core-seconds after some 370 s, as both decay.
  cluster.loop.advance(300s);
  EXPECT_EQ(cluster.node_of("slim"), "");
  cluster.loop.advance(40s);
  EXPECT_EQ(cluster.node_of("slim"), "n");
  EXPECT_EQ(cluster.node_of("wide"), "");
}

// The seconds of a quarter of an hour with cycles; nobody finds room in it, the user in front goes
// on using and somebody else wants as much.
std::vector<int> busy_seconds(bool strict, const std::string& front_class,
                              std::int64_t used_by_bob) {
  Harness cluster;
  cluster.add(JsonObject{{"config", R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: fairshare, arguments: {fairshare.resourceKey: cpu, fairshare.userKey: user, fairshare.halfLife: 1h}}]
- plugins: [{name: predicates}, {name: nodeorder}]
)"},
                         {"behaviors", JsonObject{{"strictFifo", strict}}}});
  put_state(cluster, R"({"lastCycle": "2026-01-01T00:00:00Z", "queues": {"line": {"bob": )" +
                         std::to_string(used_by_bob) + "}}}");
  cluster.add(
      yaml("{nodes: [{name: n, cpu: 4}], classes: [{name: high, value: 9}, {name: low, value: 1}], "
           "queues: [{name: line, dequeueStrategy: fifo}]}"));
  cluster.settle(1s);
  submit(cluster, "a", "alice", 3, "line");
  for (const auto& [name, user] : {std::pair("wide", "alice"), std::pair("slim", "bob")}) {
    cluster.add(yaml("{groups: [{name: " + std::string(name) +
                     ", min: 1, queue: line, annotations: {user: " + user +
                     "}, priorityClass: " + (name == std::string("wide") ? front_class : "low") +
                     "}], pods: [{name: " + name + ", group: " + name + ", cpu: 2}]}"));
    cluster.settle(10ms);
  }
  std::vector<int> out;
  for (int second = 0; second < 900; ++second) {
    const std::uint64_t before = cluster.scheduler.metrics().cycles;
    cluster.settle(1s);
    if (cluster.scheduler.metrics().cycles != before) out.push_back(second);
  }
  EXPECT_EQ(cluster.node_of("wide") + cluster.node_of("slim"), "");
  return out;
}

// Bob has used less all the time, or comes to have: either way nothing follows from it, but that it
// is looked at.
TEST(Fairshare, WhoIsInFrontByPriorityThoughHeHasUsedMoreKeepsNobodyBusy) {
  const std::vector<int> once_a_minute = busy_seconds(true, "high", 0);
  EXPECT_LE(once_a_minute.size(), 20U);
  EXPECT_EQ(busy_seconds(true, "high", 1'200'000).size(), once_a_minute.size() + 1);
}

TEST(Fairshare, WhereOrderIsNotStrictNobodyLooksWhenUsageChanges) {
  const std::vector<int> strict = busy_seconds(true, "low", 1'200'000);
  const std::vector<int> other = busy_seconds(false, "low", 1'200'000);
  std::vector<int> only_strict;
  std::set_difference(strict.begin(), strict.end(), other.begin(), other.end(),
                      std::back_inserter(only_strict));
  ASSERT_EQ(only_strict.size(), 1U);
  EXPECT_GT(only_strict.front(), 350);
  EXPECT_LT(only_strict.front(), 400);
}

// Ten jobs each; all are there before there is room for a hundred.
TEST(Fairshare, OfManyUsersEveryOneIsServedBeforeAnyIsServedTwice) {
  const char* given = std::getenv("KRATER_SCHEDULER_TASKS");
  const std::int64_t users = std::max<std::int64_t>(
      (given == nullptr ? 10'000 : std::min<std::int64_t>(std::atoll(given), 10'000)) / 10, 100);
  Harness cluster;
  configure(cluster);
  cluster.add(yaml("{queues: [{name: default}]}"));
  for (std::int64_t user = 0; user < users; ++user) {
    const std::string name = "u" + std::to_string(user);
    cluster.add(
        yaml("{pods: [{name: " + name + ", count: 10, cpu: 1, labels: {user: " + name + "}}]}"));
  }
  cluster.settle();
  cluster.add(yaml("{nodes: [{name: n, cpu: 100}]}"));
  cluster.settle();
  std::map<std::string, int> served;
  for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
    if (!PodView(pod).node_name().empty()) ++served[std::string(pod->label("user"))];
  }
  EXPECT_EQ(served.size(), 100U);
}

TEST(Fairshare, ArgumentsAreVolcanosAndAreChecked) {
  const auto parse = [](const std::string& arguments) {
    return parse_config("{actions: allocate, tiers: [{plugins: [{name: fairshare, arguments: {" +
                        arguments + "}}]}]}");
  };
  const Result<Config> whole = parse(
      R"(fairshare.targetQueues: "a, b", fairshare.resourceKey: cpu, fairshare.resourceKey.b: memory,)"
      R"( fairshare.enableEnqueueGate: "true", fairshare.halfLifeMinutes: "90",)"
      R"( fairshare.persistState: "true", fairshare.stateNamespace: n, fairshare.stateConfigMap: m,)"
      R"( fairshare.flushIntervalSeconds: "10")");
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  PluginSet asked;
  asked.start_tier();
  whole->plugin("fairshare")->make(asked, {});
  const FairshareRules& rules = *asked.fairshare;
  EXPECT_EQ(rules.half_life, 90min);
  EXPECT_EQ(rules.queues, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(rules.measure(QueueName("a")), "cpu");
  EXPECT_EQ(rules.measure(QueueName("b")), "memory");
  EXPECT_TRUE(rules.gate && rules.persist);
  EXPECT_EQ(rules.state_namespace + "/" + rules.state_name, "n/m");
  EXPECT_EQ(rules.flush_every, 10s);
  for (const char* bad :
       {"fairshare.halfLifeMinutes: 0.5", "fairshare.halfLifeMinutes: -1", "fairshare.halfLife: 5x",
        "fairshare.halfLife: 1s", "fairshare.halfLife: 2h, fairshare.halfLifeMinutes: 3",
        "fairshare.userWeights: {a: 0}", "fairshare.userWeights: 3",
        "fairshare.resourceWeights: {cpu: -1}", "fairshare.flushIntervalSeconds: 0",
        "fairshare.halflife: 1h"}) {
    EXPECT_FALSE(parse(bad).has_value()) << bad;
  }
}

TEST(Fairshare, BehindDrfIsAPitfall) {
  const auto doubts = [](const std::string& plugins) {
    const Result<Config> config =
        parse_config("{actions: allocate, tiers: [{plugins: [{name: gang}, " + plugins + "]}]}");
    EXPECT_TRUE(config.has_value());
    return pitfalls(*config).size();
  };
  EXPECT_EQ(doubts("{name: drf}, {name: fairshare}"), 1U);
  EXPECT_EQ(doubts("{name: fairshare}, {name: drf}"), 0U);
  EXPECT_EQ(doubts("{name: drf, enableJobOrder: false}, {name: fairshare}"), 0U);
}

}  // namespace
}  // namespace krater::scheduler
