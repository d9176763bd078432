// Deployments with their ReplicaSets, and hands that play the kubelet.
#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/apps/app_pod.h"
#include "controllers/apps/deployment_controller.h"
#include "controllers/apps/replica_set_controller.h"
#include "controllers/loop/testing/world.h"
#include "model/workload.h"

namespace krater::controllers {
namespace {

struct DeploymentTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_replica_set_controller());
    world.controllers.add(make_deployment_controller());
    world.controllers.start();
    world.settle();
  }
  void make(std::int64_t replicas, const std::string& more = "") {
    world.put(
        kinds::kDeployment,
        R"({"metadata":{"name":"web","namespace":"d","annotations":{"note":"n"}},"spec":{"replicas":)" +
            std::to_string(replicas) +
            R"(,"progressDeadlineSeconds":600,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}})" +
            more +
            R"(,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"v1"}]}}}})");
    world.settle();
  }
  ObjectPtr deployment() const { return world.get(kinds::kDeployment, "d", "web"); }
  void patch(std::string_view json) {
    world.patch(*deployment(), kinds::kDeployment, json);
    world.settle();
  }
  void image(const std::string& version) {
    patch(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":")" + version +
          R"("}]}}}})");
  }
  std::vector<ReplicaSetView> sets() const {
    std::vector<ReplicaSetView> out;
    for (const ObjectPtr& set : world.fake.all(kinds::kReplicaSet)) out.emplace_back(set);
    std::ranges::sort(out, {}, &ReplicaSetView::revision);
    return out;
  }
  static std::string image_of(const Json& holder) {
    const JsonArray* containers = array_at(holder, {"spec", "containers"});
    return containers == nullptr ? "" : text_at((*containers)[0], {"image"});
  }
  std::vector<ObjectPtr> pods_of(std::string_view version) const {
    std::vector<ObjectPtr> out;
    for (const ObjectPtr& pod : world.fake.all(kinds::kPod)) {
      if (image_of(*pod->document()) == version) out.push_back(pod);
    }
    return out;
  }
  void ready(const ObjectPtr& pod) {
    world.patch(
        *pod, kinds::kPod,
        R"({"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":")" +
            to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
  // Every pod becomes ready as soon as it is there, until nothing changes any more.
  void run_all(std::size_t* most = nullptr, std::size_t* least_ready = nullptr) {
    for (int round = 0; round < 100; ++round) {
      const std::vector<ObjectPtr> all = world.fake.all(kinds::kPod);
      const auto is_ready = [](const ObjectPtr& pod) { return app_pod_of(pod).ready(); };
      if (most != nullptr) *most = std::max(*most, all.size());
      if (least_ready != nullptr) {
        *least_ready =
            std::min(*least_ready, static_cast<std::size_t>(std::ranges::count_if(all, is_ready)));
      }
      const auto waiting = std::ranges::find_if_not(all, is_ready);
      if (waiting == all.end()) return;
      ready(*waiting);
    }
    FAIL() << "does not come to rest";
  }
  Condition condition(std::string_view type) const {
    return condition_of(*deployment()->document(), type).value_or(Condition{});
  }
  std::int64_t count(std::string_view field) const {
    return int_at(*deployment()->document(), {"status", field}).value_or(0);
  }
};

TEST_F(DeploymentTest, TheFirstSetCarriesHashRevisionAndAnnotations) {
  make(2);
  ASSERT_EQ(sets().size(), 1U);
  const ReplicaSetView set = sets()[0];
  const std::string hash(set->label(keys::kPodTemplateHash));
  EXPECT_EQ(hash.size(), 10U);
  EXPECT_EQ(set->name(), "web-" + hash);
  EXPECT_EQ(set.selector()->text(), "app=a,pod-template-hash=" + hash);
  EXPECT_EQ(set.annotation(keys::kDeploymentRevision), "1");
  EXPECT_EQ(set.annotation(keys::kDesiredReplicas), "2");
  EXPECT_EQ(set.annotation(keys::kMaxReplicas), "3");
  EXPECT_EQ(set.annotation("note"), "n");
  EXPECT_EQ(ObjectView(deployment()).annotation(keys::kDeploymentRevision), "1");
  EXPECT_EQ(world.fake.all(kinds::kPod).size(), 2U);
  EXPECT_EQ(condition("Available").status, "False");
  EXPECT_EQ(condition("Progressing").reason, "ReplicaSetUpdated");
  run_all();
  EXPECT_EQ(count("availableReplicas"), 2);
  EXPECT_EQ(count("unavailableReplicas"), 0);
  EXPECT_EQ(condition("Available").reason, "MinimumReplicasAvailable");
  EXPECT_EQ(condition("Progressing").reason, "NewReplicaSetAvailable");
  EXPECT_EQ(condition("Progressing").message,
            "ReplicaSet \"" + set->name() + "\" has successfully progressed.");
}

TEST_F(DeploymentTest, ARollingUpdateNeverHasTooFewNorTooMany) {
  make(3);
  run_all();
  image("v2");
  EXPECT_EQ(pods_of("v2").size(), 1U);
  std::size_t most = 0, least_ready = 99;
  run_all(&most, &least_ready);
  EXPECT_LE(most, 4U);
  EXPECT_GE(least_ready, 3U);
  EXPECT_EQ(pods_of("v1").size(), 0U);
  EXPECT_EQ(pods_of("v2").size(), 3U);
  ASSERT_EQ(sets().size(), 2U);
  EXPECT_EQ(sets()[0].replicas(), 0);
  EXPECT_EQ(sets()[1].annotation(keys::kDeploymentRevision), "2");
  EXPECT_EQ(count("updatedReplicas"), 3);
  EXPECT_EQ(condition("Progressing").reason, "NewReplicaSetAvailable");
  EXPECT_GT(world.told("ScalingReplicaSet"), 3);
}

TEST_F(DeploymentTest, RollingBackReusesTheOldSetUnderANewRevision) {
  make(1);
  run_all();
  image("v2");
  run_all();
  image("v1");
  run_all();
  ASSERT_EQ(sets().size(), 2U);
  const ReplicaSetView newest = sets()[1];
  EXPECT_EQ(newest.revision(), 3);
  EXPECT_EQ(newest.annotation(keys::kRevisionHistory), "1");
  EXPECT_EQ(image_of(newest.pod_template()), "v1");
  EXPECT_EQ(pods_of("v1").size(), 1U);
  EXPECT_EQ(ObjectView(deployment()).annotation(keys::kDeploymentRevision), "3");
}

TEST_F(DeploymentTest, RecreateWaitsUntilTheLastOldPodIsGone) {
  make(2, R"(,"strategy":{"type":"Recreate"})");
  run_all();
  for (const ObjectPtr& pod : pods_of("v1"))
    world.patch(*pod, kinds::kPod, R"({"metadata":{"finalizers":["x/hold"]}})");
  image("v2");
  ASSERT_EQ(pods_of("v1").size(), 2U);
  EXPECT_TRUE(pods_of("v2").empty());
  for (const ObjectPtr& pod : pods_of("v1")) {
    EXPECT_TRUE(pods_of("v2").empty());
    world.patch(*pod, kinds::kPod, R"({"metadata":{"finalizers":null}})");
    world.settle();
  }
  EXPECT_EQ(pods_of("v1").size(), 0U);
  EXPECT_EQ(pods_of("v2").size(), 2U);
}

TEST_F(DeploymentTest, WhilePausedOnlyTheSizeIsFollowed) {
  make(2);
  run_all();
  patch(R"({"spec":{"paused":true}})");
  EXPECT_EQ(condition("Progressing").reason, "DeploymentPaused");
  EXPECT_EQ(condition("Progressing").status, "Unknown");
  image("v2");
  EXPECT_EQ(sets().size(), 1U);
  patch(R"({"spec":{"replicas":4}})");
  EXPECT_EQ(pods_of("v1").size(), 4U);
  run_all();
  patch(R"({"spec":{"paused":false}})");
  run_all();
  EXPECT_EQ(pods_of("v2").size(), 4U);
  EXPECT_EQ(condition("Progressing").reason, "NewReplicaSetAvailable");
}

TEST_F(DeploymentTest, WithoutProgressTheDeadlineRunsOut) {
  make(1);
  run_all();
  image("broken");
  world.pass(599s);
  EXPECT_EQ(condition("Progressing").status, "True");
  world.pass(3s);
  EXPECT_EQ(condition("Progressing").status, "False");
  EXPECT_EQ(condition("Progressing").reason, "ProgressDeadlineExceeded");
  EXPECT_EQ(condition("Progressing").message,
            "ReplicaSet \"" + sets()[1]->name() + "\" has timed out progressing.");
  EXPECT_EQ(condition("Available").status, "True");
  image("v3");
  run_all();
  EXPECT_EQ(condition("Progressing").reason, "NewReplicaSetAvailable");
}

TEST_F(DeploymentTest, TheHistoryIsCutToItsLimit) {
  make(1, R"(,"revisionHistoryLimit":2)");
  run_all();
  for (const std::string version : {"v2", "v3", "v4", "v5"}) {
    image(version);
    run_all();
  }
  const std::vector<ReplicaSetView> left = sets();
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left[0].revision(), 3);
  EXPECT_EQ(left[2].revision(), 5);
}

TEST_F(DeploymentTest, ANameThatIsTakenIsACollision) {
  make(0);
  const std::string taken = sets()[0]->name();
  world.remove(kinds::kDeployment, "d", "web");
  world.settle();
  world.patch(*world.get(kinds::kReplicaSet, "d", taken), kinds::kReplicaSet,
              R"({"metadata":{"labels":{"app":"other"},"ownerReferences":null}})");
  world.settle();
  make(1);
  ASSERT_EQ(sets().size(), 2U);
  EXPECT_EQ(count("collisionCount"), 1);
  EXPECT_EQ(pods_of("v1").size(), 1U);
}

TEST_F(DeploymentTest, FailuresOfTheSetAreTheDeployments) {
  world.fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* create = std::get_if<client::CreateWrite>(&write);
    if (create == nullptr || create->kind != kinds::kPod) return std::nullopt;
    return make_error(Code::Forbidden, "exceeded quota: q");
  };
  make(1);
  world.pass(1s);
  EXPECT_EQ(condition("ReplicaFailure").reason, "FailedCreate");
  EXPECT_EQ(condition("ReplicaFailure").message, "exceeded quota: q");
  world.fake.fail = nullptr;
  world.pass(2min);
  run_all();
  EXPECT_EQ(condition("ReplicaFailure").type, "");
}

}  // namespace
}  // namespace krater::controllers
