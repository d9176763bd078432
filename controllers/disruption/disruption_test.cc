// What budgets allow, as a table, and the controller around it.
#include <gtest/gtest.h>

#include "controllers/disruption/budget_step.h"
#include "controllers/disruption/disruption_controller.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

// A namespace with a ReplicaSet, its pods, and a budget over them.
struct Scene {
  testing::World world;

  Scene() {
    world.controllers.add(make_disruption_controller());
    world.controllers.start();
    world.settle();
  }
  void workload(std::int64_t replicas, int ready, int waiting,
                std::string_view owner_kind = "ReplicaSet") {
    const ObjectPtr set = world.put(
        kinds::kReplicaSet, R"({"metadata":{"name":"r","namespace":"d"},"spec":{"replicas":)" +
                                std::to_string(replicas) + "}}");
    for (int i = 0; i < ready + waiting; ++i) {
      world.put(
          kinds::kPod,
          R"({"metadata":{"name":"p)" + std::to_string(i) +
              R"(","namespace":"d","labels":{"app":"a"},"ownerReferences":[{"apiVersion":"apps/v1","kind":")" +
              std::string(owner_kind) + R"(","name":"r","uid":")" + set->uid().text() +
              R"(","controller":true}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":")" +
              (i < ready ? "True" : "False") + R"("}]}})");
    }
    world.settle();
  }
  void budget(std::string_view spec) {
    world.put(
        kinds::kPodDisruptionBudget,
        R"({"metadata":{"name":"b","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"a"}},)" +
            std::string(spec) + "}}");
    world.settle();
  }
  DisruptionBudgetView view() const {
    return DisruptionBudgetView(world.get(kinds::kPodDisruptionBudget, "d", "b"));
  }
  std::int64_t count(std::string_view field) const {
    return int_at(view().document(), {"status", field}).value_or(-1);
  }
};

TEST(Disruption, CountsWhatMayGo) {
  const struct {
    std::string_view rule, spec;
    std::int64_t replicas;
    int ready, waiting;
    std::int64_t allowed, desired, expected;
  } cases[] = {
      {"at least a number", R"("minAvailable":2)", 3, 3, 0, 1, 2, 3},
      {"at least a share, rounded up", R"("minAvailable":"50%")", 5, 5, 0, 2, 3, 5},
      {"at most a number missing", R"("maxUnavailable":1)", 3, 3, 0, 1, 2, 3},
      {"those that are not ready miss already", R"("maxUnavailable":1)", 3, 2, 1, 0, 2, 3},
      {"those that are not there miss too", R"("maxUnavailable":1)", 4, 3, 0, 0, 3, 4},
      {"at most a share missing, rounded up", R"("maxUnavailable":"30%")", 5, 5, 0, 2, 3, 5},
      {"none may miss", R"("maxUnavailable":0)", 3, 3, 0, 0, 3, 3},
      {"no pods, nothing to allow", R"("minAvailable":0)", 0, 0, 0, 0, 0, 0},
  };
  for (const auto& item : cases) {
    Scene scene;
    scene.workload(item.replicas, item.ready, item.waiting);
    scene.budget(item.spec);
    EXPECT_EQ(scene.count("disruptionsAllowed"), item.allowed) << item.rule;
    EXPECT_EQ(scene.count("desiredHealthy"), item.desired) << item.rule;
    EXPECT_EQ(scene.count("expectedPods"), item.expected) << item.rule;
    EXPECT_EQ(scene.count("currentHealthy"), item.ready) << item.rule;
    EXPECT_EQ(scene.view().condition("DisruptionAllowed")->reason,
              item.allowed > 0 ? "SufficientPods" : "InsufficientPods")
        << item.rule;
  }
}

TEST(Disruption, FollowsPodsAndTheSizeOfTheirSet) {
  Scene scene;
  scene.workload(3, 3, 0);
  scene.budget(R"("maxUnavailable":1)");
  EXPECT_EQ(scene.count("disruptionsAllowed"), 1);
  scene.world.remove(kinds::kPod, "d", "p0");
  scene.world.settle();
  EXPECT_EQ(scene.count("disruptionsAllowed"), 0);
  scene.world.patch(*scene.world.get(kinds::kReplicaSet, "d", "r"), kinds::kReplicaSet,
                    R"({"spec":{"replicas":2}})");
  scene.world.settle();
  EXPECT_EQ(scene.count("disruptionsAllowed"), 1);
}

TEST(Disruption, CountsForWhoeverHasAScale) {
  const Kind controller{"", "v1", "ReplicationController", "replicationcontrollers", true};
  testing::World world;
  world.controllers.add(make_disruption_controller({controller}));
  world.controllers.start();
  const ObjectPtr owner =
      world.put(controller, R"({"metadata":{"name":"r","namespace":"d"},"spec":{"replicas":4}})");
  for (const char* name : {"a", "b", "c"}) {
    world.put(
        kinds::kPod,
        R"({"metadata":{"namespace":"d","labels":{"app":"a"},"name":")" + std::string(name) +
            R"(","ownerReferences":[{"apiVersion":"v1","kind":"ReplicationController","name":"r","uid":")" +
            owner->uid().text() +
            R"(","controller":true}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  world.put(
      kinds::kPodDisruptionBudget,
      R"({"metadata":{"name":"b","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"a"}},"maxUnavailable":"50%"}})");
  world.settle();
  const DisruptionBudgetView budget(world.get(kinds::kPodDisruptionBudget, "d", "b"));
  EXPECT_EQ(int_at(budget.document(), {"status", "expectedPods"}), 4);
  EXPECT_EQ(budget.disruptions_allowed(), 1);
}

TEST(Disruption, AGrantedEvictionCountsUntilItIsSeenOrTooOld) {
  Scene scene;
  scene.workload(3, 3, 0);
  scene.budget(R"("minAvailable":1)");
  EXPECT_EQ(scene.count("disruptionsAllowed"), 2);
  scene.world.patch(*scene.view().object(), kinds::kPodDisruptionBudget,
                    R"({"status":{"disruptedPods":{"p0":")" +
                        to_rfc3339(scene.world.loop.wall().now()) +
                        R"(","gone":"2026-01-01T00:00:00Z"}}})");
  scene.world.settle();
  EXPECT_EQ(scene.count("disruptionsAllowed"), 1);
  EXPECT_EQ(scene.view().disrupted().size(), 1U);
  scene.world.pass(2min + 1s);
  EXPECT_EQ(scene.count("disruptionsAllowed"), 2);
  EXPECT_TRUE(scene.view().disrupted().empty());
  EXPECT_EQ(scene.world.told("NotDeleted"), 1);
}

TEST(Disruption, WithoutNumbersNothingMayGo) {
  Scene scene;
  scene.workload(3, 3, 0, "Strange");
  scene.budget(R"("maxUnavailable":1)");
  EXPECT_EQ(scene.count("disruptionsAllowed"), 0);
  EXPECT_EQ(scene.view().condition("DisruptionAllowed")->reason, "SyncFailed");
  EXPECT_GT(scene.world.told("CalculateExpectedPodCountFailed"), 0);
}

TEST(Disruption, ABudgetWithoutSelectorCoversNothingAnEmptyOneEverything) {
  Scene scene;
  scene.workload(2, 2, 0);
  for (const auto& [selector, expected] :
       {std::pair<std::string, std::int64_t>{"", 0}, {R"("selector":{},)", 2}}) {
    scene.world.put(kinds::kPodDisruptionBudget,
                    R"({"metadata":{"name":"b","namespace":"d"},"spec":{)" + selector +
                        R"("minAvailable":1}})");
    scene.world.settle();
    EXPECT_EQ(scene.count("expectedPods"), expected);
  }
}

}  // namespace
}  // namespace krater::controllers
