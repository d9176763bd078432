#include "controllers/raycluster/replicas.h"

#include <gtest/gtest.h>

#include "controllers/ray/testing/objects.h"

namespace krater::controllers {
namespace {

using test::pod_of;
using test::PodOptions;

WallTime at(std::string_view text) {
  return *parse_rfc3339(text);
}
const WallTime kNow = at("2026-01-01T00:01:00Z");

std::vector<PodView> workers(int count) {
  std::vector<PodView> out;
  for (int i = 0; i < count; ++i) out.push_back(pod_of("w" + std::to_string(i), {.index = i}));
  return out;
}
std::vector<std::string> removed(const ReplicaChanges& changes) {
  std::vector<std::string> out;
  for (const PodView& pod : changes.remove) out.push_back(pod->name());
  return out;
}
std::vector<std::int64_t> added(const ReplicaChanges& changes) {
  std::vector<std::int64_t> out;
  for (const NewReplica& replica : changes.add) out.push_back(replica.index);
  return out;
}
using Names = std::vector<std::string>;
using Indices = std::vector<std::int64_t>;

TEST(Replicas, StartMakesExactlyWhatIsAsked) {
  EXPECT_EQ(added(plan_replicas({5, 1}, {}, kNow)), (Indices{0, 1, 2, 3, 4}));
  const auto settled = plan_replicas({5, 1}, workers(5), kNow);
  EXPECT_TRUE(settled.add.empty() && settled.remove.empty());
}

TEST(Replicas, HoweverManyAreAskedForOnePassMakesAFew) {
  EXPECT_EQ(plan_replicas({2147483647, 1}, {}, kNow).add.size(), 500U);
  EXPECT_EQ(plan_replicas({2147483647, 4}, {}, kNow).add.size(), 125U);
  EXPECT_EQ(plan_replicas({2147483647, 10'000}, {}, kNow).add.size(), 1U);
  EXPECT_EQ(plan_replicas({501, 1}, workers(500), kNow).add.size(), 1U);
}

TEST(Replicas, ScalingByOneTouchesOnePod) {
  const auto down = plan_replicas({4, 1}, workers(5), kNow);
  EXPECT_EQ(removed(down), Names{"w4"});
  EXPECT_TRUE(down.add.empty());
  EXPECT_EQ(added(plan_replicas({6, 1}, workers(3), kNow)), (Indices{3, 4, 5}));
}

TEST(Replicas, OneThatIsGoingIsNotReplacedTwiceNorDeletedAgain) {
  auto pods = workers(4);
  pods.push_back(pod_of("w4", {.deleting = true, .index = 4}));
  const auto down = plan_replicas({4, 1}, pods, kNow);
  EXPECT_TRUE(down.remove.empty() && down.add.empty());
  // Wanted again while one still goes: its place is filled once it is gone.
  EXPECT_TRUE(plan_replicas({5, 1}, pods, kNow).add.empty());
  EXPECT_EQ(added(plan_replicas({5, 1}, workers(4), kNow)), Indices{4});
}

TEST(Replicas, WhatDoesNotRunGivesWayFirst) {
  auto pods = workers(3);
  pods[1] = pod_of("w1", {.phase = "Pending", .ready = false, .index = 1});
  EXPECT_EQ(removed(plan_replicas({2, 1}, pods, kNow)), Names{"w1"});
}

TEST(Replicas, NamedWorkersGoAndOnlyTheAutoscalerTrims) {
  ReplicaWish wish{3, 1};
  wish.named_away = {"w1"};
  wish.trim = false;
  const auto changes = plan_replicas(wish, workers(5), kNow);
  EXPECT_EQ(removed(changes), Names{"w1"});
  EXPECT_TRUE(changes.add.empty());
}

TEST(Replicas, AFailedPodIsReplacedInTheSamePassAndTheIndexRefilled) {
  auto pods = workers(3);
  pods[1] = pod_of(
      "w1", {.phase = "Failed", .ended = "2026-01-01T00:00:59Z", .ready = false, .index = 1});
  const auto changes = plan_replicas({3, 1}, pods, kNow);
  EXPECT_EQ(removed(changes), Names{"w1"});
  ASSERT_EQ(added(changes), Indices{1});
  EXPECT_EQ(changes.add[0].replacements, 1);
}

TEST(Replicas, ReplacementsOfWhatKeepsFailingAreSpacedOut) {
  struct Case {
    int replacements;
    std::string ended;
    Duration left;  // 0: replaced now
  };
  for (const Case& c : {Case{0, "2026-01-01T00:01:00Z", 0s}, Case{1, "2026-01-01T00:01:00Z", 2s},
                        Case{1, "2026-01-01T00:00:58Z", 0s}, Case{4, "2026-01-01T00:00:58Z", 14s},
                        Case{30, "2026-01-01T00:01:00Z", 300s}}) {
    const std::vector<PodView> pods{pod_of("h", {.phase = "Failed",
                                                 .created = "2026-01-01T00:00:30Z",
                                                 .ended = c.ended,
                                                 .ready = false,
                                                 .replacements = c.replacements})};
    const auto changes = plan_replicas({1, 1}, pods, kNow);
    EXPECT_EQ(changes.look_again.value_or(0s), c.left) << c.replacements;
    EXPECT_EQ(changes.add.size(), c.left == 0s ? 1U : 0U) << c.replacements;
    EXPECT_EQ(changes.remove.size(), c.left == 0s ? 1U : 0U) << c.replacements;
  }
}

TEST(Replicas, OneThatLivedWellStartsTheCountAnew) {
  const std::vector<PodView> pods{pod_of("h", {.phase = "Failed",
                                               .created = "2025-12-31T23:00:00Z",
                                               .ended = "2026-01-01T00:01:00Z",
                                               .ready = false,
                                               .replacements = 7})};
  const auto changes = plan_replicas({1, 1}, pods, kNow);
  ASSERT_EQ(changes.add.size(), 1U);
  EXPECT_EQ(changes.add[0].replacements, 1);
}

TEST(Replicas, ARayContainerThatEndedForGoodCountsAsFailedOnlyWithRestartPolicyNever) {
  const auto pods = [](std::string policy) {
    return std::vector<PodView>{pod_of(
        "h",
        {.restart_policy = std::move(policy), .ended = "2026-01-01T00:00:59Z", .ready = false})};
  };
  EXPECT_EQ(removed(plan_replicas({1, 1}, pods("Never"), kNow)), Names{"h"});
  EXPECT_TRUE(plan_replicas({1, 1}, pods("Always"), kNow).remove.empty());
}

TEST(Replicas, AReplicaOfSeveralHostsLivesAndGoesTogether) {
  std::vector<PodView> pods;
  for (int host = 0; host < 4; ++host) {
    pods.push_back(
        pod_of("a" + std::to_string(host), {.index = 0, .host = host, .replica_name = "wg-a"}));
    if (host < 3)
      pods.push_back(
          pod_of("b" + std::to_string(host), {.index = 1, .host = host, .replica_name = "wg-b"}));
  }
  // wg-b lost one host: the rest of it goes, and a whole replica follows when they are gone.
  const auto broken = plan_replicas({2, 4}, pods, kNow);
  EXPECT_EQ(removed(broken), (Names{"b0", "b1", "b2"}));
  EXPECT_TRUE(broken.add.empty());
  std::erase_if(pods, [](const PodView& pod) { return pod->name()[0] == 'b'; });
  EXPECT_EQ(added(plan_replicas({2, 4}, pods, kNow)), Indices{1});
}

}  // namespace
}  // namespace krater::controllers
