// StatefulSets, with hands that play the kubelet.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "controllers/apps/app_pod.h"
#include "controllers/apps/stateful_set_controller.h"
#include "controllers/apps/stateful_set_step.h"
#include "controllers/loop/testing/world.h"
#include "model/storage_kinds.h"

namespace krater::controllers {
namespace {

struct StatefulSetTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_stateful_set_controller());
    world.controllers.start();
    world.settle();
  }
  void make(std::int64_t replicas, const std::string& more = "") {
    world.put(
        kinds::kStatefulSet,
        R"({"metadata":{"name":"s","namespace":"d"},"spec":{"replicas":)" +
            std::to_string(replicas) + more +
            R"(,"serviceName":"svc","selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"v1"}]}}}})");
    world.settle();
  }
  ObjectPtr set() const { return world.get(kinds::kStatefulSet, "d", "s"); }
  void patch(std::string_view json) {
    world.patch(*set(), kinds::kStatefulSet, json);
    world.settle();
  }
  void image(const std::string& version) {
    patch(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":")" + version +
          R"("}]}}}})");
  }
  ObjectPtr pod(int ordinal) const {
    return world.get(kinds::kPod, "d", "s-" + std::to_string(ordinal));
  }
  void ready(int ordinal, bool value = true) {
    world.patch(
        *pod(ordinal), kinds::kPod,
        R"({"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":")" +
            std::string(value ? "True" : "False") + R"(","lastTransitionTime":")" +
            to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
  // "0:v1 1:v2": the pods and the images they run.
  std::string pods() const {
    std::vector<std::string> out;
    for (const ObjectPtr& one : world.fake.all(kinds::kPod)) {
      const std::shared_ptr<const Json> document = one->document();
      const JsonArray* containers = array_at(*document, {"spec", "containers"});
      out.push_back(one->name().substr(2) + ":" + text_at((*containers)[0], {"image"}));
    }
    return join(out, " ");
  }
  void run_all() {
    for (int round = 0; round < 100; ++round) {
      bool all = true;
      for (const ObjectPtr& one : world.fake.all(kinds::kPod)) {
        if (app_pod_of(one).ready()) continue;
        ready(static_cast<int>(*ordinal_of("s", one->name())));
        all = false;
        break;
      }
      if (all) return;
    }
    FAIL() << "does not come to rest";
  }
  std::int64_t count(std::string_view field) const {
    return int_at(*set()->document(), {"status", field}).value_or(0);
  }
  std::string status(std::string_view field) const {
    return text_at(*set()->document(), {"status", field});
  }
};

TEST_F(StatefulSetTest, PodsComeInOrderEachWhenTheLastIsReady) {
  make(3);
  EXPECT_EQ(pods(), "0:v1");
  ready(0);
  EXPECT_EQ(pods(), "0:v1 1:v1");
  ready(1);
  ready(2);
  EXPECT_EQ(pods(), "0:v1 1:v1 2:v1");
  const std::shared_ptr<const Json> document = pod(1)->document();
  EXPECT_EQ(text_at(*document, {"spec", "hostname"}), "s-1");
  EXPECT_EQ(text_at(*document, {"spec", "subdomain"}), "svc");
  EXPECT_EQ(pod(1)->label(keys::kStatefulSetPodName), "s-1");
  EXPECT_EQ(pod(1)->label(keys::kPodIndex), "1");
  EXPECT_EQ(pod(1)->label(keys::kRevisionHash), status("currentRevision"));
  EXPECT_EQ(status("currentRevision"), status("updateRevision"));
  EXPECT_EQ(count("readyReplicas"), 3);
  EXPECT_EQ(count("currentReplicas"), 3);
  EXPECT_EQ(world.told("SuccessfulCreate"), 3);
  ASSERT_EQ(world.fake.all(kinds::kControllerRevision).size(), 1U);
}

TEST(StatefulSetStep, HoweverManyAreAskedForOnePassMakesAFew) {
  const Result<ObjectPtr> set = Object::parse({"statefulsets.apps", "d", "s"}, Revision(1),
                                              std::make_shared<const std::string>(R"({
        "apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s","namespace":"d","uid":"u"},
        "spec":{"replicas":2147483647,"podManagementPolicy":"Parallel","selector":{"matchLabels":
        {"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c"}]}}}})"));
  const StatefulSetSeen seen{StatefulSetView(*set),
                             {},
                             {},
                             [](const std::string&) { return false; },
                             [](const std::string&) { return ObjectPtr(); }};
  std::size_t pods = 0;
  for (const auto& step : stateful_set_step(seen, WallTime()).steps) {
    for (const PlannedWrite& write : step) {
      const auto* create = std::get_if<client::CreateWrite>(&write.write);
      pods += create != nullptr && create->kind == kinds::kPod ? 1 : 0;
    }
  }
  EXPECT_EQ(pods, 500U);
}

TEST_F(StatefulSetTest, ParallelSetsDoNotWait) {
  make(3, R"(,"podManagementPolicy":"Parallel","ordinals":{"start":5})");
  EXPECT_EQ(pods(), "5:v1 6:v1 7:v1");
  patch(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(pods(), "5:v1");
}

TEST_F(StatefulSetTest, ScalingDownGoesFromTheTopWhenAllAreHealthy) {
  make(3);
  run_all();
  ready(0, false);
  patch(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(pods(), "0:v1 1:v1 2:v1");
  ready(0);
  EXPECT_EQ(pods(), "0:v1");
}

TEST_F(StatefulSetTest, APodThatFailedIsMadeAnewUnderItsName) {
  make(2);
  run_all();
  const Uid before = pod(0)->uid();
  world.patch(*pod(0), kinds::kPod, R"({"status":{"phase":"Failed"}})");
  world.settle();
  ASSERT_NE(pod(0), nullptr);
  EXPECT_NE(pod(0)->uid(), before);
  EXPECT_EQ(pods(), "0:v1 1:v1");
}

TEST_F(StatefulSetTest, UpdatesGoFromTheTopDownToThePartition) {
  make(3, R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}})");
  run_all();
  const std::string old = status("currentRevision");
  image("v2");
  EXPECT_EQ(pods(), "0:v1 1:v1 2:v2");
  ready(2);
  EXPECT_EQ(pods(), "0:v1 1:v2 2:v2");
  ready(1);
  EXPECT_EQ(pods(), "0:v1 1:v2 2:v2");
  EXPECT_EQ(count("updatedReplicas"), 2);
  EXPECT_EQ(status("currentRevision"), old);
  // A pod below the partition that is lost comes back as it was.
  world.remove(kinds::kPod, "d", "s-0");
  world.settle();
  EXPECT_EQ(pods(), "0:v1 1:v2 2:v2");
  ready(0);
  patch(R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}})");
  run_all();
  EXPECT_EQ(pods(), "0:v2 1:v2 2:v2");
  EXPECT_NE(status("currentRevision"), old);
  EXPECT_EQ(status("currentRevision"), status("updateRevision"));
}

TEST_F(StatefulSetTest, OnDeleteWaitsForTheUser) {
  make(2, R"(,"updateStrategy":{"type":"OnDelete"})");
  run_all();
  image("v2");
  EXPECT_EQ(pods(), "0:v1 1:v1");
  world.remove(kinds::kPod, "d", "s-1");
  world.settle();
  EXPECT_EQ(pods(), "0:v1 1:v2");
}

TEST_F(StatefulSetTest, RollingBackRenewsTheOldRevision) {
  make(1, R"(,"revisionHistoryLimit":1)");
  run_all();
  const std::string first = status("updateRevision");
  image("v2");
  run_all();
  image("v1");
  run_all();
  EXPECT_EQ(status("updateRevision"), first);
  const ObjectPtr revision = world.get(kinds::kControllerRevision, "d", first);
  EXPECT_EQ(int_at(*revision->document(), {"revision"}), 3);
  EXPECT_EQ(text_at(*revision->document(), {"data", "spec", "template", "$patch"}), "replace");
  for (const std::string version : {"v3", "v4", "v5"}) {
    image(version);
    run_all();
  }
  EXPECT_EQ(world.fake.all(kinds::kControllerRevision).size(), 2U);  // the live one and one more
}

TEST_F(StatefulSetTest, ForeignPodsOfItsNamesStandInTheWay) {
  world.put(kinds::kPod,
            R"({"metadata":{"name":"s-0","namespace":"d","labels":{"app":"other"}},"spec":{}})");
  make(1);
  EXPECT_GT(world.told("FailedCreate"), 0);
  world.remove(kinds::kPod, "d", "s-0");
  world.pass(2min);
  EXPECT_EQ(pods(), "0:v1");
}

constexpr const char* kClaims =
    R"(,"volumeClaimTemplates":[{"metadata":{"name":"data","labels":{"x":"y"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}])";

TEST_F(StatefulSetTest, EachPodHasClaimsOfItsOwnThatOutliveIt) {
  make(2, kClaims);
  const ObjectPtr claim = world.get(kinds::kPersistentVolumeClaim, "d", "data-s-0");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->label("x"), "y");
  EXPECT_EQ(claim->label("app"), "a");
  EXPECT_TRUE(claim->owners().empty());
  EXPECT_EQ(to_json(*find(*pod(0)->document(), {"spec", "volumes"})),
            R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-s-0"}}])");
  run_all();
  ASSERT_NE(world.get(kinds::kPersistentVolumeClaim, "d", "data-s-1"), nullptr);
  patch(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(pods(), "0:v1");
  EXPECT_NE(world.get(kinds::kPersistentVolumeClaim, "d", "data-s-1"), nullptr);
  world.remove(kinds::kPod, "d", "s-0");
  world.settle();
  EXPECT_EQ(pods(), "0:v1");
  EXPECT_EQ(world.get(kinds::kPersistentVolumeClaim, "d", "data-s-0")->uid(), claim->uid());
}

TEST_F(StatefulSetTest, ClaimsFollowTheRetentionPolicy) {
  make(
      2,
      std::string(kClaims) +
          R"(,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"})");
  run_all();
  const auto owner = [this](const std::string& claim) {
    const ObjectPtr found = world.get(kinds::kPersistentVolumeClaim, "d", claim);
    return found == nullptr || found->owners().empty() ? std::string() : found->owners()[0].kind;
  };
  EXPECT_EQ(owner("data-s-0"), "StatefulSet");
  EXPECT_EQ(owner("data-s-1"), "StatefulSet");
  ready(0, false);  // nothing goes yet
  patch(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(owner("data-s-0"), "StatefulSet");
  EXPECT_EQ(owner("data-s-1"), "Pod");
  patch(R"({"spec":{"replicas":2}})");
  EXPECT_EQ(owner("data-s-1"), "StatefulSet");
}

}  // namespace
}  // namespace krater::controllers
