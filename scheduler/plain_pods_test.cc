// Pods of Volcano's scheduler that name no group, where a controller is about to make one for each.
#include <gtest/gtest.h>

#include "model/keys.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

Options grouped() {
  Options out;
  out.grouped_schedulers = {"volcano"};
  return out;
}

constexpr std::string_view kCluster = R"({
  config: '{actions: "enqueue, allocate, backfill", tiers: [{plugins: [{name: gang}, {name: predicates}, {name: capacity}]}]}',
  nodes: [{name: n, cpu: 8}], queues: [{name: default}, {name: q, capability: {cpu: 2}}]})";

struct PlainPods : ::testing::Test {
  Harness cluster{grouped()};

  PlainPods() { cluster.add(yaml(kCluster)); }
  // As the controller does, once it has made the group.
  void join(const std::string& pod, const std::string& group) {
    Json next = *cluster.client.read(kinds::kPod, "d", pod)->document();
    set_path(next, {"metadata", "annotations", keys::kGroupName}, Json(group));
    cluster.client.put(kinds::kPod, std::move(next));
  }
};

TEST_F(PlainPods, ArePlacedOnceTheirGroupIsAdmitted) {
  cluster.add(yaml("{pods: [{name: a, cpu: 1}, {name: empty}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "");
  EXPECT_EQ(cluster.node_of("empty"), "");
  EXPECT_EQ(cluster.pod_message("a"), "") << "it will not be long";
  cluster.add(yaml("{groups: [{name: g, min: 1, minResources: {cpu: 1}}]}"));
  join("a", "g");
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "n");
  EXPECT_EQ(cluster.group("g").phase(), PodGroupPhase::Running);
}

TEST_F(PlainPods, DoNotPassTheLimitThatAdmissionKeeps) {
  cluster.add(yaml(R"({groups: [{name: first, min: 1, queue: q, minResources: {cpu: 2}}],
                       pods: [{name: late, cpu: 1, queue: q}]})"));
  cluster.settle();
  EXPECT_EQ(cluster.group("first").phase(), PodGroupPhase::Inqueue);
  cluster.add(yaml("{groups: [{name: g, min: 1, queue: q, minResources: {cpu: 1}}]}"));
  join("late", "g");
  cluster.settle();
  EXPECT_EQ(cluster.node_of("late"), "") << "the room is promised to who has no pods yet";
  EXPECT_EQ(cluster.group("g").phase(), PodGroupPhase::Pending);
}

TEST_F(PlainPods, AreToldWhyNoGroupComes) {
  cluster.add(yaml(R"({queues: [{name: shut, state: Closed}],
                       pods: [{name: a, cpu: 1, queue: shut}, {name: b, cpu: 1, queue: nowhere},
                              {name: c, cpu: 1}]})"));
  cluster.settle();
  EXPECT_NE(cluster.pod_message("a").find("\"shut\" is Closed"), std::string::npos);
  EXPECT_NE(cluster.pod_message("b").find("\"nowhere\" does not exist"), std::string::npos);
  EXPECT_EQ(cluster.pod_message("c"), "");
  cluster.settle(30s);
  EXPECT_NE(cluster.pod_message("c").find("PodGroup has not been made"), std::string::npos);
  EXPECT_TRUE(cluster.has_event("c", "FailedScheduling", "PodGroup has not been made"));
}

TEST_F(PlainPods, AreOfTheQueueThatTheirNamespacePrefers) {
  const auto prefer = [&](const std::string& queue) {
    Json space = yaml("{metadata: {name: d}}");
    set_path(space, {"metadata", "annotations", keys::kQueueName}, Json(queue));
    cluster.client.put(kinds::kNamespace, std::move(space));
    cluster.settle(1s);
  };
  cluster.add(yaml(R"({queues: [{name: shut, state: Closed}],
                       pods: [{name: a, cpu: 1}, {name: b, cpu: 1, queue: default},
                              {name: c, cpu: 1, queue: q}]})"));
  cluster.settle(1s);
  EXPECT_EQ(cluster.pod_message("a"), "");
  prefer("shut");
  EXPECT_NE(cluster.pod_message("a").find("\"shut\" is Closed"), std::string::npos);
  EXPECT_NE(cluster.pod_message("b").find("\"shut\" is Closed"), std::string::npos);
  EXPECT_EQ(cluster.pod_message("c"), "");
  cluster.add(yaml("{pods: [{name: late, cpu: 1}]}"));
  cluster.settle(1s);
  EXPECT_NE(cluster.pod_message("late").find("\"shut\" is Closed"), std::string::npos);
}

TEST_F(PlainPods, CountAgainstTheirQueueWhereverTheyHaveANode) {
  cluster.add(yaml(R"({pods: [{name: there, cpu: 2, queue: q, node: n, phase: Running},
                              {name: coming, cpu: 1, queue: q}]})"));
  cluster.settle();
  const ObjectPtr queue = cluster.client.read(kinds::kQueue, "", "q");
  EXPECT_EQ(QueueView(queue).allocated().at("cpu"), 2000);
}

TEST_F(PlainPods, OfTheDefaultSchedulerNeedNoGroup) {
  cluster.add(yaml(R"({pods: [{name: a, cpu: 1, scheduler: default-scheduler},
                              {name: b, cpu: 1, scheduler: default-scheduler, queue: q}]})"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "n");
  EXPECT_EQ(cluster.node_of("b"), "n");
}

TEST(PlainPodsAlone, ArePlacedAsTheyAreWhereNobodyMakesGroups) {
  Harness cluster;
  cluster.add(yaml(kCluster));
  cluster.add(yaml("{pods: [{name: a, cpu: 1, queue: q}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "n");
}

TEST(PlainPodsAlone, StartOnceTheQueueThatTheyGoToOpens) {
  Harness cluster;
  cluster.add(yaml(kCluster));
  cluster.add(yaml("{queues: [{name: default, state: Closed}], pods: [{name: a, cpu: 1}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "");
  cluster.add(yaml("{queues: [{name: default, state: Open}]}"));
  cluster.settle(1s);
  EXPECT_EQ(cluster.node_of("a"), "n");
}

}  // namespace
}  // namespace krater::scheduler
