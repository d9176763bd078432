// DaemonSets over some nodes, with hands that play scheduler and kubelet.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "controllers/apps/app_pod.h"
#include "controllers/apps/daemon_placement.h"
#include "controllers/apps/daemon_set_controller.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

struct DaemonSetTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_daemon_set_controller());
    world.controllers.start();
    world.settle();
  }
  void node(const std::string& name, const std::string& labels = "",
            const std::string& taints = "") {
    world.put(kinds::kNode, R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
                                R"(}},"spec":{"taints":[)" + taints + "]}}");
    world.settle();
  }
  void make(const std::string& pod_spec = "", const std::string& more = "") {
    world.put(
        kinds::kDaemonSet,
        R"({"metadata":{"name":"ds","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"a"}},)" +
            more + R"("template":{"metadata":{"labels":{"app":"a"}},"spec":{)" + pod_spec +
            R"("containers":[{"name":"c","image":"v1"}]}}}})");
    world.settle();
  }
  ObjectPtr set() const { return world.get(kinds::kDaemonSet, "d", "ds"); }
  void patch(std::string_view json) {
    world.patch(*set(), kinds::kDaemonSet, json);
    world.settle();
  }
  void image(const std::string& version) {
    patch(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":")" + version +
          R"("}]}}}})");
  }
  // "n1:v1 n2:v1": where pods are, by node.
  std::string places() const {
    std::vector<std::string> out;
    for (const ObjectPtr& pod : world.fake.all(kinds::kPod)) {
      const std::shared_ptr<const Json> document = pod->document();
      const JsonArray* containers = array_at(*document, {"spec", "containers"});
      out.push_back(node_of_daemon(*document) + ":" + text_at((*containers)[0], {"image"}));
    }
    std::ranges::sort(out);
    return join(out, " ");
  }
  void ready(const ObjectPtr& pod) {
    world.patch(
        *pod, kinds::kPod,
        R"({"spec":{"nodeName":")" + node_of_daemon(*pod->document()) +
            R"("},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":")" +
            to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
  // One more pod becomes ready; false when all are.
  bool ready_one() {
    for (const ObjectPtr& pod : world.fake.all(kinds::kPod)) {
      if (app_pod_of(pod).ready()) continue;
      ready(pod);
      return true;
    }
    return false;
  }
  void run_all() {
    for (int round = 0; round < 100 && ready_one(); ++round) {
    }
  }
  std::int64_t count(std::string_view field) const {
    return int_at(*set()->document(), {"status", field}).value_or(0);
  }
};

TEST_F(DaemonSetTest, APodOnEachNodeThatFits) {
  node("n1");
  node("n2", R"("disk":"ssd")");
  node("full", "", R"({"key":"k","value":"v","effect":"NoSchedule"})");
  make();
  EXPECT_EQ(places(), "n1:v1 n2:v1");
  EXPECT_EQ(count("desiredNumberScheduled"), 2);
  EXPECT_EQ(count("numberUnavailable"), 2);
  run_all();
  EXPECT_EQ(count("numberReady"), 2);
  EXPECT_EQ(count("numberAvailable"), 2);
  EXPECT_EQ(count("updatedNumberScheduled"), 2);
  node("n3");
  EXPECT_EQ(places(), "n1:v1 n2:v1 n3:v1");
  patch(R"({"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}})");
  run_all();
  EXPECT_EQ(places(), "n2:v1");
}

TEST_F(DaemonSetTest, TroublesOfANodeAreToleratedAndEvictionIsObeyed) {
  node("n1", "", R"({"key":"node.kubernetes.io/unreachable","effect":"NoExecute"})");
  node("n2", "", R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"})");
  node("n3");
  make();
  run_all();
  EXPECT_EQ(places(), "n1:v1 n2:v1 n3:v1");
  // A new NoSchedule taint lets a pod stay, NoExecute does not.
  node("n2", "", R"({"key":"k","effect":"NoSchedule"})");
  EXPECT_EQ(places(), "n1:v1 n2:v1 n3:v1");
  EXPECT_EQ(count("numberMisscheduled"), 1);
  node("n3", "", R"({"key":"k","effect":"NoExecute"})");
  EXPECT_EQ(places(), "n1:v1 n2:v1");
}

TEST_F(DaemonSetTest, PodsArePinnedToTheirNode) {
  node("n1");
  make(R"("tolerations":[{"key":"own","operator":"Exists"}],)");
  const ObjectPtr pod = world.fake.all(kinds::kPod)[0];
  const PodView view(pod);
  EXPECT_TRUE(NodeAffinity::from(view.node_affinity()).allows("n1", {}));
  EXPECT_FALSE(NodeAffinity::from(view.node_affinity()).allows("n2", {}));
  EXPECT_EQ(view.tolerations().size(), 7U);
}

TEST_F(DaemonSetTest, UpdatesTakeOneNodeAtATime) {
  for (const std::string name : {"n1", "n2", "n3"}) node(name);
  make();
  run_all();
  image("v2");
  EXPECT_EQ(places(), "n1:v2 n2:v1 n3:v1");
  ready_one();
  EXPECT_EQ(places(), "n1:v2 n2:v2 n3:v1");
  run_all();
  EXPECT_EQ(places(), "n1:v2 n2:v2 n3:v2");
  EXPECT_EQ(count("updatedNumberScheduled"), 3);
  EXPECT_EQ(world.fake.all(kinds::kControllerRevision).size(), 2U);
}

TEST_F(DaemonSetTest, WithSurgeTheNewPodComesFirst) {
  for (const std::string name : {"n1", "n2"}) node(name);
  make(
      "",
      R"("updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},)");
  run_all();
  image("v2");
  EXPECT_EQ(places(), "n1:v1 n1:v2 n2:v1");
  ready_one();
  EXPECT_EQ(places(), "n1:v2 n2:v1 n2:v2");
  run_all();
  EXPECT_EQ(places(), "n1:v2 n2:v2");
}

TEST_F(DaemonSetTest, OnDeleteWaitsForTheUser) {
  node("n1");
  make("", R"("updateStrategy":{"type":"OnDelete"},)");
  run_all();
  image("v2");
  EXPECT_EQ(places(), "n1:v1");
  world.remove(kinds::kPod, "d", world.fake.all(kinds::kPod)[0]->name());
  world.settle();
  EXPECT_EQ(places(), "n1:v2");
}

TEST_F(DaemonSetTest, AFailedPodIsReplacedAfterAPause) {
  node("n1");
  make();
  const std::string first = world.fake.all(kinds::kPod)[0]->name();
  world.patch(*world.fake.all(kinds::kPod)[0], kinds::kPod, R"({"status":{"phase":"Failed"}})");
  world.settle();
  EXPECT_EQ(world.fake.all(kinds::kPod)[0]->name(), first);
  world.pass(61s);
  ASSERT_EQ(world.fake.all(kinds::kPod).size(), 1U);
  EXPECT_NE(world.fake.all(kinds::kPod)[0]->name(), first);
  EXPECT_EQ(world.told("FailedDaemonPod"), 1);
}

}  // namespace
}  // namespace krater::controllers
