// ReplicaSets, with hands that play the kubelet.
#include <gtest/gtest.h>

#include <set>

#include "controllers/apps/app_pod.h"
#include "controllers/apps/replica_set_controller.h"
#include "controllers/loop/testing/world.h"
#include "model/workload.h"

namespace krater::controllers {
namespace {

struct ReplicaSetTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_replica_set_controller());
    world.controllers.start();
    world.settle();
  }
  void make(std::int64_t replicas, const std::string& more = "") {
    world.put(
        kinds::kReplicaSet,
        R"({"metadata":{"name":"r","namespace":"d"},"spec":{"replicas":)" +
            std::to_string(replicas) + more +
            R"(,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a","tier":"web"}},"spec":{"containers":[{"name":"c"}]}}}})");
    world.settle();
  }
  void resize(std::int64_t replicas) {
    world.patch(*world.get(kinds::kReplicaSet, "d", "r"), kinds::kReplicaSet,
                R"({"spec":{"replicas":)" + std::to_string(replicas) + "}}");
    world.settle();
  }
  std::vector<ObjectPtr> pods() const { return world.fake.all(kinds::kPod); }
  void ready(const ObjectPtr& pod) {
    world.patch(
        *pod, kinds::kPod,
        R"({"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":")" +
            to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
  Json status() const {
    const ReplicaSetView set(world.get(kinds::kReplicaSet, "d", "r"));
    const Json* found = find(set.document(), {"status"});
    return found == nullptr ? Json() : *found;
  }
  std::int64_t count(std::string_view field) const { return int_at(status(), {field}).value_or(0); }
};

TEST_F(ReplicaSetTest, MakesWhatIsMissingAndCountsIt) {
  make(3);
  ASSERT_EQ(pods().size(), 3U);
  std::set<std::string> names;
  for (const ObjectPtr& pod : pods()) {
    names.insert(pod->name());
    EXPECT_EQ(pod->controller()->name, "r");
    EXPECT_EQ(pod->label("tier"), "web");
  }
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(world.told("SuccessfulCreate"), 3);
  EXPECT_EQ(to_json(status()), R"({"replicas":3,"fullyLabeledReplicas":3,"observedGeneration":1})");
  for (const ObjectPtr& pod : pods()) ready(pod);
  EXPECT_EQ(count("readyReplicas"), 3);
  EXPECT_EQ(count("availableReplicas"), 3);
}

TEST_F(ReplicaSetTest, ReplacesWhatIsGoneOrEndedUnderANewName) {
  make(1);
  const std::string first = pods()[0]->name();
  world.remove(kinds::kPod, "d", first);
  world.settle();
  ASSERT_EQ(pods().size(), 1U);
  const std::string second = pods()[0]->name();
  EXPECT_NE(first, second);
  world.patch(*pods()[0], kinds::kPod, R"({"status":{"phase":"Failed"}})");
  world.settle();
  ASSERT_EQ(pods().size(), 2U);
  EXPECT_EQ(count("replicas"), 1);
}

TEST_F(ReplicaSetTest, ScalingDownKeepsTheReadyOnes) {
  make(4);
  const std::vector<ObjectPtr> all = pods();
  ready(all[1]);
  ready(all[3]);
  resize(2);
  ASSERT_EQ(pods().size(), 2U);
  EXPECT_EQ(pods()[0]->name(), all[1]->name());
  EXPECT_EQ(pods()[1]->name(), all[3]->name());
  EXPECT_EQ(world.told("SuccessfulDelete"), 2);
  EXPECT_EQ(count("observedGeneration"), 2);
}

TEST_F(ReplicaSetTest, AReadyPodIsAvailableAfterItsTime) {
  make(1, R"(,"minReadySeconds":10)");
  ready(pods()[0]);
  EXPECT_EQ(count("readyReplicas"), 1);
  EXPECT_EQ(count("availableReplicas"), 0);
  world.pass(9s);
  EXPECT_EQ(count("availableReplicas"), 0);
  world.pass(2s);
  EXPECT_EQ(count("availableReplicas"), 1);
}

TEST_F(ReplicaSetTest, AdoptsOrphansAndReleasesWhatNoLongerMatches) {
  world.put(kinds::kPod,
            R"({"metadata":{"name":"orphan","namespace":"d","labels":{"app":"a"}},"spec":{}})");
  world.put(
      kinds::kPod,
      R"({"metadata":{"name":"ended","namespace":"d","labels":{"app":"a"}},"spec":{},"status":{"phase":"Succeeded"}})");
  make(2);
  EXPECT_EQ(world.get(kinds::kPod, "d", "ended")->controller(), nullptr);
  world.remove(kinds::kPod, "d", "ended");
  world.settle();
  ASSERT_EQ(pods().size(), 2U);
  EXPECT_EQ(world.get(kinds::kPod, "d", "orphan")->controller()->name, "r");
  world.patch(*world.get(kinds::kPod, "d", "orphan"), kinds::kPod,
              R"({"metadata":{"labels":{"app":"debug"}}})");
  world.settle();
  EXPECT_EQ(world.get(kinds::kPod, "d", "orphan")->controller(), nullptr);
  EXPECT_EQ(pods().size(), 3U);
  // An orphan that turns up later is one too many.
  world.patch(*world.get(kinds::kPod, "d", "orphan"), kinds::kPod,
              R"({"metadata":{"labels":{"app":"a"}}})");
  world.settle();
  EXPECT_EQ(pods().size(), 2U);
}

TEST_F(ReplicaSetTest, AFailureStandsInTheConditionsUntilItIsOver) {
  world.fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* create = std::get_if<client::CreateWrite>(&write);
    if (create == nullptr || create->kind != kinds::kPod) return std::nullopt;
    return make_error(Code::Forbidden, "exceeded quota: q");
  };
  make(2);
  world.pass(1s);
  const Json failed = status();
  const JsonArray* conditions = array_at(failed, {"conditions"});
  ASSERT_NE(conditions, nullptr);
  EXPECT_EQ(text_at((*conditions)[0], {"reason"}), "FailedCreate");
  EXPECT_EQ(text_at((*conditions)[0], {"message"}), "exceeded quota: q");
  EXPECT_GT(world.told("FailedCreate"), 0);
  world.fake.fail = nullptr;
  world.pass(2min);
  EXPECT_EQ(pods().size(), 2U);
  const Json healed = status();
  EXPECT_EQ(find(healed, {"conditions"}), nullptr);
}

// The same with plain labels for a selector.
TEST(ReplicationControllers, KeepTheirNumberOfPods) {
  const Kind& kind = kinds::kReplicationController;
  testing::World world;
  world.controllers.add(make_replication_controller());
  world.controllers.start();
  world.put(kinds::kPod,
            R"({"metadata":{"name":"orphan","namespace":"d","labels":{"app":"a"}},"spec":{}})");
  world.put(
      kind,
      R"({"metadata":{"name":"rc","namespace":"d"},"spec":{"replicas":3,"selector":{"app":"a"},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c"}]}}}})");
  world.settle();
  const auto pods = [&] { return world.fake.all(kinds::kPod); };
  ASSERT_EQ(pods().size(), 3U);
  for (const ObjectPtr& pod : pods()) {
    ASSERT_NE(pod->controller(), nullptr);
    EXPECT_EQ(pod->controller()->kind, "ReplicationController");
    EXPECT_EQ(pod->controller()->api_version, "v1");
  }
  const auto controller = [&] { return world.get(kind, "d", "rc"); };
  EXPECT_EQ(int_at(*controller()->document(), {"status", "replicas"}), 3);
  EXPECT_EQ(int_at(*controller()->document(), {"status", "observedGeneration"}), 1);
  world.patch(*controller(), kind, R"({"spec":{"replicas":1}})");
  world.settle();
  EXPECT_EQ(pods().size(), 1U);
  EXPECT_EQ(world.told("SuccessfulDelete"), 2);
  world.remove(kinds::kPod, "d", pods()[0]->name());
  world.settle();
  EXPECT_EQ(pods().size(), 1U);
}

TEST_F(ReplicaSetTest, ASetThatIsBeingDeletedMakesNothing) {
  world.put(
      kinds::kReplicaSet,
      R"({"metadata":{"name":"r","namespace":"d","finalizers":["x/y"],"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{}}}})");
  world.settle();
  EXPECT_TRUE(pods().empty());
}

}  // namespace
}  // namespace krater::controllers
