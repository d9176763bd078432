#include "controllers/node/node_controller.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "controllers/node/eviction.h"
#include "model/node.h"

namespace krater::controllers {
namespace {

struct NodeTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    make_node("n1");
    world.controllers.add(make_node_controller());
    world.controllers.start();
    world.settle();
  }
  void make_node(const std::string& name) {
    world.put(kinds::kNode, R"({"metadata":{"name":")" + name + R"("},"status":{"conditions":[
        {"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z"},{"type":"MemoryPressure","status":"False"},
        {"type":"DiskPressure","status":"False"},{"type":"PIDPressure","status":"False"}]}})");
    beat(name);
  }
  void beat(const std::string& name) {
    world.put(kinds::kLease, R"({"metadata":{"name":")" + name +
                                 R"(","namespace":"kube-node-lease"},"spec":{"renewTime":")" +
                                 to_rfc3339_micro(world.loop.wall().now()) + R"("}})");
  }
  void pass(Duration time, bool beating) {
    for (Duration at{}; at < time; at += 10s) {
      if (beating) beat("n1");
      world.pass(10s);
    }
  }
  void put_pod(const std::string& name, const std::string& tolerations = "") {
    world.put(
        kinds::kPod,
        R"({"metadata":{"name":")" + name +
            R"(","namespace":"d"},"spec":{"nodeName":"n1","tolerations":[)" + tolerations +
            R"(]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
    world.settle();
  }
  NodeView node() const { return NodeView(world.get(kinds::kNode, "", "n1")); }
  ObjectPtr pod(const std::string& name) const { return world.get(kinds::kPod, "d", name); }
  bool tainted(std::string_view key, std::string_view effect) const {
    for (const Taint& taint : node().taints()) {
      if (taint.key == key && taint.effect == effect) return true;
    }
    return false;
  }
};

TEST_F(NodeTest, ABeatingNodeIsLeftAlone) {
  world.fake.writes.clear();
  pass(10min, true);
  EXPECT_TRUE(node().ready());
  EXPECT_TRUE(world.fake.writes.empty());
}

TEST_F(NodeTest, PodsThatComeToANodeThatIsWellCostItNoPass) {
  const auto passes = [this] { return world.controllers.counters().front().passes; };
  const auto before = passes();
  for (int i = 0; i < 50; ++i) put_pod("p" + std::to_string(i));
  EXPECT_EQ(passes(), before);
}

TEST_F(NodeTest, ASilentNodeBecomesUnknownAndTainted) {
  pass(60s, true);
  pass(20s, false);
  EXPECT_TRUE(node().ready());
  pass(20s, false);
  const auto ready = node().condition("Ready");
  EXPECT_EQ(ready->status, "Unknown");
  EXPECT_EQ(ready->reason, "NodeStatusUnknown");
  EXPECT_EQ(ready->message, "Kubelet stopped posting node status.");
  EXPECT_EQ(node().condition("DiskPressure")->status, "Unknown");
  EXPECT_TRUE(tainted(keys::kTaintUnreachable, "NoSchedule"));
  EXPECT_TRUE(tainted(keys::kTaintUnreachable, "NoExecute"));
  EXPECT_FALSE(tainted(keys::kTaintNotReady, "NoExecute"));
  EXPECT_EQ(world.told("NodeNotReady"), 1);
  // It comes back and says so.
  beat("n1");
  world.patch(*node().object(), kinds::kNode,
              R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "status");
  world.settle();
  EXPECT_TRUE(node().taints().empty());
}

TEST_F(NodeTest, ANodeThatSaysItIsNotReadyIsTaintedAtOnce) {
  world.patch(*node().object(), kinds::kNode,
              R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})", "status");
  world.settle();
  EXPECT_TRUE(tainted(keys::kTaintNotReady, "NoExecute"));
  EXPECT_FALSE(tainted(keys::kTaintUnreachable, "NoExecute"));
}

TEST_F(NodeTest, ForeignTaintsStayAndCordonIsATaint) {
  world.patch(
      *node().object(), kinds::kNode,
      R"({"spec":{"unschedulable":true,"taints":[{"key":"mine","value":"v","effect":"NoSchedule"}]}})");
  world.settle();
  EXPECT_TRUE(tainted("mine", "NoSchedule"));
  EXPECT_TRUE(tainted(keys::kTaintUnschedulable, "NoSchedule"));
  world.patch(*node().object(), kinds::kNode, R"({"spec":{"unschedulable":null}})");
  world.settle();
  EXPECT_TRUE(tainted("mine", "NoSchedule"));
  EXPECT_FALSE(tainted(keys::kTaintUnschedulable, "NoSchedule"));
}

TEST_F(NodeTest, PodsOfASilentNodeAreNotReadyAndLeaveAfterTheirToleration) {
  put_pod(
      "short",
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":30})");
  put_pod(
      "usual",
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})");
  put_pod("for-ever", R"({"operator":"Exists"})");
  put_pod("none");
  pass(40s, false);
  EXPECT_EQ(pod("none"), nullptr);
  ASSERT_NE(pod("short"), nullptr);
  EXPECT_FALSE(PodView(pod("short")).ready());
  EXPECT_EQ(PodView(pod("short")).condition("Ready")->reason, "NodeNotReady");
  pass(20s, false);
  EXPECT_NE(pod("short"), nullptr);
  pass(20s, false);
  EXPECT_EQ(pod("short"), nullptr);
  EXPECT_NE(pod("usual"), nullptr);
  pass(280s, false);
  EXPECT_EQ(pod("usual"), nullptr);
  pass(1h, false);
  EXPECT_NE(pod("for-ever"), nullptr);
  EXPECT_EQ(world.told("TaintManagerEviction"), 3);
}

TEST_F(NodeTest, AReturnInTimeSavesItsPods) {
  put_pod(
      "usual",
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})");
  pass(2min, false);
  world.patch(*node().object(), kinds::kNode,
              R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "status");
  pass(10min, true);
  EXPECT_NE(pod("usual"), nullptr);
}

TEST_F(NodeTest, AUsersNoExecuteTaintEvictsToo) {
  put_pod("a");
  put_pod("b", R"({"key":"repair","operator":"Exists","tolerationSeconds":60})");
  world.patch(*node().object(), kinds::kNode,
              R"({"spec":{"taints":[{"key":"repair","effect":"NoExecute"}]}})");
  world.settle();
  EXPECT_EQ(pod("a"), nullptr);
  pass(50s, true);
  EXPECT_NE(pod("b"), nullptr);
  pass(10s, true);
  EXPECT_EQ(pod("b"), nullptr);
}

TEST_F(NodeTest, PodsOfAGoneNodeAreRemoved) {
  put_pod("a", R"({"operator":"Exists"})");
  world.remove(kinds::kNode, "", "n1");
  world.remove(kinds::kLease, "kube-node-lease", "n1");
  world.pass(39s);
  EXPECT_NE(pod("a"), nullptr);
  world.pass(1s);
  EXPECT_EQ(pod("a"), nullptr);
}

TEST(Eviction, APodWhoseNodeIsGoneIsNoLongerReadyAnywhere) {
  testing::World world;
  const PodView pod(
      world.put(kinds::kPod,
                R"({"metadata":{"name":"a","namespace":"d"},"status":{"phase":"Running",
        "conditions":[{"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"}],
        "containerStatuses":[
          {"name":"x","ready":true,"started":true,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}},
          {"name":"y","ready":false,"state":{"terminated":{"exitCode":3}}},
          {"name":"z","ready":false,"state":{"waiting":{"reason":"ContainerCreating"}}}]}})"));
  std::vector<PlannedWrite> marks, deletes;
  remove_orphan(pod, WallTime::from_unix_seconds(1000), marks, deletes);
  ASSERT_EQ(marks.size(), 1U);
  const Json& document = std::get<client::UpdateWrite>(marks[0].write).object;
  EXPECT_EQ(text_at(document, {"status", "phase"}), "Failed");
  EXPECT_FALSE(condition_of(document, "Ready")->is_true());
  EXPECT_EQ(condition_of(document, "ContainersReady")->reason, "PodFailed");
  const Json& list = *find(document, {"status", "containerStatuses"});
  EXPECT_EQ(text_at(list.at(0), {"state", "terminated", "reason"}), "ContainerStatusUnknown");
  EXPECT_EQ(bool_at(list.at(0), {"ready"}), false);
  EXPECT_EQ(int_at(list.at(1), {"state", "terminated", "exitCode"}), 3);
  EXPECT_NE(find(list.at(2), {"state", "waiting"}), nullptr);
}

TEST_F(NodeTest, ANodeThatRegistersAnewKeepsItsPods) {
  put_pod("a", R"({"operator":"Exists"})");
  world.remove(kinds::kNode, "", "n1");
  world.pass(20s);
  make_node("n1");
  pass(5min, true);
  EXPECT_NE(pod("a"), nullptr);
}

TEST_F(NodeTest, ARestartGivesEveryNodeItsGraceAnew) {
  pass(30s, false);
  world.controllers.stop();
  ControllerLoop second(world.loop, world.loop.wall(), world.fake);
  second.add(make_node_controller());
  second.start();
  pass(30s, false);
  EXPECT_TRUE(node().ready());
  pass(20s, false);
  EXPECT_FALSE(node().ready());
}

TEST(Eviction, TheShortestTolerationOfEachTaintCounts) {
  const WallTime t = WallTime::from_unix_seconds(1000);
  const TimedTaint taint{{"k", "", "NoExecute"}, t};
  const TimedTaint soft{{"k", "", "NoSchedule"}, t};
  const auto tolerate = [](std::optional<std::int64_t> seconds) {
    return Toleration{"k", "Exists", "", "", seconds};
  };
  EXPECT_EQ(eviction_time({}, {soft}), std::nullopt);
  EXPECT_EQ(eviction_time({}, {taint}), WallTime());
  EXPECT_EQ(eviction_time({tolerate({})}, {taint}), std::nullopt);
  EXPECT_EQ(eviction_time({tolerate(30), tolerate(10)}, {taint}), t + 10s);
  EXPECT_EQ(eviction_time({tolerate(-5)}, {taint}), t);
}

TEST(PodGc, KeepsTheYoungestFinishedPods) {
  testing::World world;
  world.controllers.add(make_pod_gc_controller(3));
  world.controllers.start();
  world.settle();
  for (int i = 0; i < 6; ++i) {
    world.put(kinds::kPod, R"({"metadata":{"name":"p)" + std::to_string(i) +
                               R"(","namespace":"d"},"status":{"phase":")" +
                               (i == 1 ? "Running" : "Succeeded") + R"("}})");
    world.pass(1s);
  }
  std::vector<std::string> left;
  for (const ObjectPtr& pod : world.fake.all(kinds::kPod)) left.push_back(pod->name());
  EXPECT_EQ(left, (std::vector<std::string>{"p1", "p3", "p4", "p5"}));
}

}  // namespace
}  // namespace krater::controllers
