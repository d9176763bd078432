// RayClusters through the real controller loop: what a user does and what must come of it.
#include <gtest/gtest.h>

#include "controllers/ray/testing/world.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "model/podgroup.h"

namespace krater::controllers {
namespace {

using test::cluster_spec;

struct RayClusterScenario : ::testing::Test, test::World {
  RayClusterScenario() { restart(); }
  void add_controllers() override {
    controllers->add(make_raycluster_controller({.scheduler = *volcano}));
  }

  RayClusterView cluster(const std::string& name = "c") const {
    return RayClusterView(fake.read(kinds::kRayCluster, "ns", name));
  }
  void scale(int replicas) {
    Json groups = *find(*cluster()->document(), {"spec", "workerGroupSpecs"});
    set_path(groups.get_array().front(), {"replicas"}, replicas);
    patch(kinds::kRayCluster, "c",
          to_json(JsonObject{{"spec", JsonObject{{"workerGroupSpecs", groups}}}}));
  }
  std::int64_t gang_members() const {
    return PodGroupView(fake.read(kinds::kPodGroup, "ns", "ray-c-pg")).min_member();
  }
};

TEST_F(RayClusterScenario, BecomesReadyWithExactlyItsPods) {
  apply(kinds::kRayCluster, "c", cluster_spec(2));
  EXPECT_EQ(pods().size(), 3U);
  EXPECT_EQ(creates(kinds::kPod), 3);
  EXPECT_EQ(cluster().state(), "");
  EXPECT_EQ(cluster().status().condition("HeadPodReady")->reason, "Unknown");
  run_pods();
  const RayClusterStatus status = cluster().status();
  EXPECT_EQ(status.state, "ready");
  EXPECT_EQ(status.ready_workers, 2);
  EXPECT_EQ(status.desired_workers, 2);
  EXPECT_EQ(status.head_pod_ip, "10.0.0.7");
  EXPECT_EQ(status.head_service_ip, "10.0.0.7");  // headless
  EXPECT_EQ(status.head_service_name, "c-head-svc");
  EXPECT_EQ(status.endpoints.at("dashboard"), "8265");
  EXPECT_EQ(status.desired_cpu, "768m");
  EXPECT_EQ(status.desired_memory, "768Mi");
  EXPECT_TRUE(status.is_true("HeadPodReady"));
  EXPECT_TRUE(status.is_true("RayClusterProvisioned"));
  EXPECT_EQ(status.condition("RayClusterProvisioned")->reason, "AllPodRunningAndReadyFirstTime");
  EXPECT_EQ(creates(kinds::kPod), 3);
  EXPECT_EQ(event_reasons(),
            (std::set<std::string>{"CreatedHeadPod", "CreatedService", "CreatedWorkerPod"}));
  EXPECT_EQ(head()->label("volcano.sh/queue-name"), "");
  EXPECT_EQ(head().annotation("scheduling.k8s.io/group-name"), "ray-c-pg");
  EXPECT_EQ(head().scheduler_name(), "volcano");
  EXPECT_TRUE(controllers->quiet());
}

TEST_F(RayClusterScenario, ThePodGroupComesBeforeAnyPodAndFollowsTheReplicas) {
  apply(kinds::kRayCluster, "c", cluster_spec(2));
  std::size_t gang = 0, first_pod = 0;
  for (std::size_t i = 0; i < fake.writes.size(); ++i) {
    const auto* write = std::get_if<client::CreateWrite>(&fake.writes[i]);
    if (write == nullptr) continue;
    if (write->kind == kinds::kPodGroup) gang = i;
    if (write->kind == kinds::kPod && first_pod == 0) first_pod = i;
  }
  EXPECT_LT(gang, first_pod);
  EXPECT_EQ(gang_members(), 3);
  scale(4);
  EXPECT_EQ(gang_members(), 5);
}

TEST_F(RayClusterScenario, ScalingByOneTouchesOnePod) {
  apply(kinds::kRayCluster, "c", cluster_spec(5));
  run_pods();
  const auto before = worker_uids();
  const std::size_t mark = fake.writes.size();
  scale(4);
  EXPECT_EQ(deletes(kinds::kPod, mark), 1);
  EXPECT_EQ(creates(kinds::kPod, mark), 0);
  const auto after = worker_uids();
  EXPECT_EQ(after.size(), 4U);
  for (const std::string& uid : after) EXPECT_TRUE(before.contains(uid));
  scale(6);
  EXPECT_EQ(creates(kinds::kPod, mark), 2);
  EXPECT_EQ(deletes(kinds::kPod, mark), 1);
}

TEST_F(RayClusterScenario, PodsThatAreSlowToGoAreNotCountedTwice) {
  apply(kinds::kRayCluster, "c", cluster_spec(3));
  run_pods();
  for (const PodView& pod : pods())
    patch(kinds::kPod, pod->name(), R"({"metadata":{"finalizers":["x/y"]}})");
  const std::size_t mark = fake.writes.size();
  scale(2);
  advance(60s);
  EXPECT_EQ(deletes(kinds::kPod, mark), 1);
  EXPECT_EQ(creates(kinds::kPod, mark), 0);
}

TEST_F(RayClusterScenario, TenClustersAtOnceMakeThirtyPodsAndDeleteNone) {
  for (int i = 0; i < 10; ++i) {
    Json json = new_object(kinds::kRayCluster, "ns", "steady-" + std::to_string(i));
    set_path(json, {"spec"}, *parse_json(cluster_spec(2)));
    fake.put(kinds::kRayCluster, std::move(json));
  }
  settle();
  run_pods();
  EXPECT_EQ(creates(kinds::kPod), 30);
  EXPECT_EQ(deletes(kinds::kPod), 0);
  EXPECT_EQ(pods().size(), 30U);
}

TEST_F(RayClusterScenario, AnEndedHeadIsReplacedByAnother) {
  apply(kinds::kRayCluster, "c", cluster_spec(0));
  run_pods();
  const std::string old = head()->uid().text();
  const std::string old_name = head()->name();
  fail_pod(old_name);
  EXPECT_NE(head()->uid().text(), old);
  EXPECT_NE(head()->name(), old_name);
  EXPECT_EQ(pods().size(), 1U);
  EXPECT_EQ(head().annotation("krater.io/replacements"), "1");
  EXPECT_TRUE(event_reasons().contains("DeletedHeadPod"));
}

TEST_F(RayClusterScenario, AHeadThatShallNotComeBackIsNotReplaced) {
  Json made = new_object(kinds::kRayCluster, "ns", "c");
  set_path(made, {"metadata", "annotations", "ray.io/disable-provisioned-head-restart"}, "true");
  set_path(made, {"spec"}, *parse_json(cluster_spec(2)));
  fake.put(kinds::kRayCluster, std::move(made));
  settle();
  // Until the cluster was provisioned once, it needs its head.
  fail_pod(head()->name());
  ASSERT_TRUE(head());
  run_pods();
  ASSERT_TRUE(cluster().status().is_true("RayClusterProvisioned"));

  const std::string name = head()->name();
  patch(kinds::kPod, name, R"({"metadata":{"finalizers":["x/y"]}})");
  const std::size_t mark = fake.writes.size();
  fail_pod(name);
  advance(60s);
  EXPECT_EQ(deletes(kinds::kPod, mark), 1);
  patch(kinds::kPod, name, R"({"metadata":{"finalizers":null}})");
  scale(5);
  advance(600s);
  EXPECT_FALSE(head());
  EXPECT_EQ(creates(kinds::kPod, mark), 0);
  EXPECT_EQ(worker_uids().size(), 2U);

  patch(kinds::kRayCluster, "c",
        R"({"metadata":{"annotations":{"ray.io/disable-provisioned-head-restart":"false"}}})");
  EXPECT_TRUE(head());
  EXPECT_EQ(worker_uids().size(), 5U);
}

TEST_F(RayClusterScenario, AHeadThatKeepsFailingIsReplacedEverMoreSlowly) {
  apply(kinds::kRayCluster, "c", cluster_spec(0));
  std::vector<std::int64_t> made_at;
  std::string last;
  for (int second = 0; second < 120; ++second) {
    if (const PodView pod = head(); pod && pod->uid().text() != last && !pod.finished()) {
      last = pod->uid().text();
      made_at.push_back(second);
      fail_pod(pod->name());
    }
    advance(1s);
  }
  ASSERT_GE(made_at.size(), 4U);
  int within_30s = 0;
  for (const std::int64_t second : made_at) within_30s += second <= 30 ? 1 : 0;
  EXPECT_LT(within_30s, 8);
  for (std::size_t i = 3; i < made_at.size(); ++i) {
    EXPECT_GT(made_at[i] - made_at[i - 1], made_at[i - 1] - made_at[i - 2]);
  }
}

TEST_F(RayClusterScenario, AGangThatIsRefusedIsTold) {
  fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* create = std::get_if<client::CreateWrite>(&write);
    if (create == nullptr || create->kind != kinds::kPodGroup) return std::nullopt;
    return make_error(Code::Forbidden, "unable to find queue: nope");
  };
  apply(kinds::kRayCluster, "c", cluster_spec(1));
  advance(1s);
  EXPECT_TRUE(event_reasons().contains("FailedToCreatePodGroup"));
}

TEST_F(RayClusterScenario, AFailedCreateIsToldInTheStatusAndTakenBack) {
  fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* create = std::get_if<client::CreateWrite>(&write);
    if (create == nullptr || create->kind != kinds::kPod) return std::nullopt;
    return make_error(Code::Forbidden, "pods \"x\" is forbidden: exceeded quota: q");
  };
  apply(kinds::kRayCluster, "c", cluster_spec(1));
  advance(1s);
  const Condition* told = nullptr;
  RayClusterStatus status = cluster().status();
  told = status.condition("ReplicaFailure");
  ASSERT_NE(told, nullptr);
  EXPECT_TRUE(told->is_true());
  EXPECT_EQ(told->reason, "FailedCreateHeadPod");
  EXPECT_NE(told->message.find("forbidden: exceeded quota"), std::string::npos);
  EXPECT_TRUE(event_reasons().contains("FailedToCreateHeadPod"));
  fake.fail = nullptr;
  advance(120s);
  EXPECT_EQ(pods().size(), 2U);
  EXPECT_EQ(cluster().status().condition("ReplicaFailure"), nullptr);
}

TEST_F(RayClusterScenario, SuspensionTakesAllPodsAndTheGangsShareAndResumes) {
  apply(kinds::kRayCluster, "c", cluster_spec(2));
  run_pods();
  patch(kinds::kRayCluster, "c", R"({"spec":{"suspend":true}})");
  RayClusterStatus status = cluster().status();
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(status.state, "suspended");
  EXPECT_TRUE(status.is_true("RayClusterSuspended"));
  EXPECT_FALSE(status.is_true("RayClusterSuspending"));
  EXPECT_FALSE(status.is_true("RayClusterProvisioned"));
  EXPECT_EQ(gang_members(), 0);
  EXPECT_NE(fake.read(kinds::kService, "ns", "c-head-svc"), nullptr);
  patch(kinds::kRayCluster, "c", R"({"spec":{"suspend":false}})");
  EXPECT_EQ(gang_members(), 3);
  run_pods();
  EXPECT_EQ(pods().size(), 3U);
  EXPECT_EQ(cluster().state(), "ready");
  EXPECT_FALSE(cluster().status().is_true("RayClusterSuspended"));
}

TEST_F(RayClusterScenario, RecreateReplacesAllPodsWhenTheSpecChanged) {
  apply(kinds::kRayCluster, "c", cluster_spec(1, R"("upgradeStrategy":{"type":"Recreate"},)"));
  run_pods();
  const auto before = worker_uids();
  patch(kinds::kRayCluster, "c", R"({"spec":{"headServiceAnnotations":{"a":"b"}}})");
  run_pods();
  EXPECT_EQ(pods().size(), 2U);
  for (const std::string& uid : worker_uids()) EXPECT_FALSE(before.contains(uid));
  scale(2);  // counts are no change of that kind
  EXPECT_EQ(worker_uids().size(), 2U);
}

TEST_F(RayClusterScenario, InvalidAndUnsupportedSpecsMakeNothingAndSayWhy) {
  struct Case {
    std::string name, spec, reason, says;
  };
  const std::string ok = cluster_spec(1);
  for (const Case& c :
       {Case{std::string(54, 'a'), ok, "InvalidRayClusterMetadata", "no more than 53 characters"},
        Case{"9lives", ok, "InvalidRayClusterMetadata", "DNS1035"},
        Case{"my.cluster", ok, "InvalidRayClusterMetadata", "DNS1035"},
        Case{"c1", R"({"headGroupSpec":{}})", "InvalidRayClusterSpec", "headGroupSpec"},
        Case{"c2", cluster_spec(1, R"("enableInTreeAutoscaling":true,)"), "InvalidRayClusterSpec",
             "enableInTreeAutoscaling"},
        Case{"c3", cluster_spec(1, R"("gcsFaultToleranceOptions":{},)"), "InvalidRayClusterSpec",
             "gcsFaultToleranceOptions"},
        Case{"c4", cluster_spec(1, R"("authOptions":{"mode":"token"},)"), "InvalidRayClusterSpec",
             "authOptions"},
        Case{"c5", cluster_spec(1, R"("upgradeStrategy":{"type":"Rolling"},)"),
             "InvalidRayClusterSpec", "Recreate or None"}}) {
    apply(kinds::kRayCluster, c.name, c.spec);
    bool told = false;
    for (const ObjectPtr& note : fake.all(kinds::kEvent)) {
      const Json json = *note->document();
      if (text_at(json, {"involvedObject", "name"}) != c.name) continue;
      told = true;
      EXPECT_EQ(text_at(json, {"reason"}), c.reason) << c.name;
      EXPECT_NE(text_at(json, {"message"}).find(c.says), std::string::npos)
          << text_at(json, {"message"});
    }
    EXPECT_TRUE(told) << c.name;
  }
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(fake.all(kinds::kService).empty());
  EXPECT_TRUE(fake.all(kinds::kPodGroup).empty());
}

TEST_F(RayClusterScenario, TheLongestNameWorks) {
  const std::string name(53, 'a');
  apply(kinds::kRayCluster, name, cluster_spec(1));
  EXPECT_NE(fake.read(kinds::kService, "ns", name + "-head-svc"), nullptr);
  ASSERT_EQ(pods().size(), 2U);
  for (const PodView& pod : pods()) {
    EXPECT_LE(pod->name().size(), 63U);
    for (const auto& [key, value] : pod->labels()) EXPECT_LE(value.size(), 63U) << key;
  }
}

TEST_F(RayClusterScenario, AnotherManagersClusterIsLeftAlone) {
  apply(kinds::kRayCluster, "c", cluster_spec(1, R"("managedBy":"kueue.x-k8s.io/multikueue",)"));
  EXPECT_TRUE(fake.writes.empty());
}

TEST_F(RayClusterScenario, ARestartMakesNothingTwice) {
  apply(kinds::kRayCluster, "c", cluster_spec(2));
  const std::size_t mark = fake.writes.size();
  restart();
  run_pods();
  EXPECT_EQ(creates(kinds::kPod, mark), 0);
  EXPECT_EQ(cluster().state(), "ready");
}

}  // namespace
}  // namespace krater::controllers
