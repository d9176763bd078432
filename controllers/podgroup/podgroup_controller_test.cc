#include "controllers/podgroup/podgroup_controller.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "controllers/loop/testing/world.h"
#include "model/keys.h"
#include "model/pod.h"
#include "model/podgroup.h"

namespace krater::controllers {
namespace {

struct PodGroupControllerTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_pod_group_controller(
        {{"volcano", "gangs"}, [](const Kind& kind) { return kind.group == "apps"; }}));
    world.controllers.start();
    world.settle();
  }
  ObjectPtr pod(const std::string& name, const std::string& metadata = "",
                const std::string& spec = R"("schedulerName":"volcano")") {
    world.put(kinds::kPod, R"({"metadata":{"name":")" + name + R"(","namespace":"d")" + metadata +
                               R"(},"spec":{)" + spec +
                               R"(,"containers":[{"resources":{"requests":{"cpu":"2"}}}]}})");
    world.settle();
    return world.get(kinds::kPod, "d", name);
  }
  static std::string group_of(const ObjectPtr& pod) {
    return std::string(PodView(pod).annotation(keys::kGroupName));
  }
  PodGroupView group(const std::string& name) {
    return PodGroupView(world.get(kinds::kPodGroup, "d", name));
  }
  std::string owned_by(const Kind& kind, const ObjectPtr& owner) {
    return R"(,"ownerReferences":[{"apiVersion":")" + kind.api_version() + R"(","kind":")" +
           kind.kind + R"(","name":")" + owner->name() + R"(","uid":")" + owner->uid().text() +
           R"(","controller":true}])";
  }
};

TEST_F(PodGroupControllerTest, PodsOfEachOfVolcanosNamesGetGroups) {
  EXPECT_NE(group_of(pod("a", "", R"("schedulerName":"gangs")")), "");
  EXPECT_EQ(group_of(pod("b", "", R"("schedulerName":"default-scheduler")")), "");
}

// VC-30
TEST_F(PodGroupControllerTest, APlainPodGetsAGroupOfItsOwn) {
  const ObjectPtr solo = pod(
      "solo",
      R"(,"annotations":{"volcano.sh/preemptable":"false","volcano.sh/network-topology-mode":"soft"})",
      R"("schedulerName":"volcano","priorityClassName":"p-high")");
  EXPECT_EQ(group_of(solo), "podgroup-" + solo->uid().text());
  const PodGroupView made = group(group_of(solo));
  ASSERT_TRUE(made);
  EXPECT_EQ(made.min_member(), 1);
  EXPECT_EQ(made.priority_class_name(), "p-high");
  EXPECT_EQ(made.min_resources()->at("cpu"), 2000);
  EXPECT_EQ(made.annotation(keys::kPreemptable), "false");
  EXPECT_EQ(text_at(made.document(), {"spec", "networkTopology", "mode"}), "soft");
  ASSERT_NE(made->controller(), nullptr);
  EXPECT_EQ(made->controller()->uid, solo->uid());
}

TEST_F(PodGroupControllerTest, OthersArePassedBy) {
  EXPECT_EQ(group_of(pod("default", "", R"("schedulerName":"default-scheduler")")), "");
  EXPECT_EQ(group_of(pod("grouped", R"(,"annotations":{"scheduling.k8s.io/group-name":"mine"})")),
            "mine");
  EXPECT_TRUE(world.fake.all(kinds::kPodGroup).empty());
  EXPECT_EQ(world.controllers.counters().front().passes, 0U) << "there may be thousands of them";
}

TEST_F(PodGroupControllerTest, PodsOfOneJobShareAGroupOfTheSizeItAsksFor) {
  world.put(kinds::kJob,
            R"({"metadata":{"name":"j","namespace":"d","annotations":{)"
            R"("scheduling.volcano.sh/group-min-member":"3","volcano.sh/x":"1","y":"2"}}})");
  world.settle();
  const ObjectPtr job = world.get(kinds::kJob, "d", "j");
  const std::string owner = owned_by(kinds::kJob, job);
  EXPECT_EQ(group_of(pod("a", owner)), group_of(pod("b", owner)));
  ASSERT_EQ(world.fake.all(kinds::kPodGroup).size(), 1U);
  const PodGroupView made = group("podgroup-" + job->uid().text());
  EXPECT_EQ(made.min_member(), 3);
  EXPECT_EQ(made.min_resources()->at("cpu"), 6000);
  EXPECT_EQ(made.annotation("volcano.sh/x"), "1");
  EXPECT_EQ(made.annotation("y"), "");
  EXPECT_EQ(made->controller()->uid, job->uid());
}

TEST_F(PodGroupControllerTest, APodThatKnowsItsGroupGetsIt) {
  world.put(kinds::kJob, R"({"metadata":{"name":"j","namespace":"d","annotations":{)"
                         R"("scheduling.volcano.sh/group-min-member":"2"}}})");
  world.settle();
  const ObjectPtr job = world.get(kinds::kJob, "d", "j");
  const std::string name = "podgroup-" + job->uid().text();
  pod("a", owned_by(kinds::kJob, job) + R"(,"annotations":{"scheduling.k8s.io/group-name":")" +
               name + R"("})");
  ASSERT_TRUE(group(name));
  EXPECT_EQ(group(name).min_member(), 2);
}

TEST_F(PodGroupControllerTest, AnAbsurdSizeIsOne) {
  world.put(kinds::kJob, R"({"metadata":{"name":"j","namespace":"d","annotations":{)"
                         R"("scheduling.volcano.sh/group-min-member":"-3"}}})");
  world.settle();
  const ObjectPtr job = world.get(kinds::kJob, "d", "j");
  EXPECT_EQ(group(group_of(pod("a", owned_by(kinds::kJob, job)))).min_member(), 1);
}

// A rollout with maxSurge 1: the new set asks for one pod, then for two.
TEST_F(PodGroupControllerTest, AGroupIsNeverLargerThanItsReplicaSetAsksFor) {
  const Kind sets{"apps", "v1", "ReplicaSet", "replicasets", true};
  world.put(sets, R"({"metadata":{"name":"rs","namespace":"d","annotations":{)"
                  R"("scheduling.volcano.sh/group-min-member":"3"}},"spec":{"replicas":1}})");
  world.settle();
  const ObjectPtr set = world.get(sets, "d", "rs");
  const std::string owner = owned_by(sets, set);
  const std::string name = group_of(pod("a", owner));
  EXPECT_EQ(group(name).min_member(), 1);
  // Nobody has a node: the gang is what is asked for.
  world.patch(*set, sets, R"({"spec":{"replicas":2}})");
  world.settle();
  EXPECT_EQ(group(name).min_member(), 2);
  EXPECT_EQ(group(name).min_resources()->at("cpu"), 4000);
  // It stands: it grows with those who have found their places.
  const auto place = [&](const std::string& which) {
    world.patch(*world.get(kinds::kPod, "d", which), kinds::kPod, R"({"spec":{"nodeName":"n"}})");
    world.settle();
  };
  pod("b", owner);
  place("a");
  place("b");
  world.patch(*set, sets, R"({"spec":{"replicas":5}})");
  pod("c", owner);
  EXPECT_EQ(group(name).min_member(), 2);
  place("c");
  EXPECT_EQ(group(name).min_member(), 3);
  // The old set of the next rollout asks for less.
  world.patch(*set, sets, R"({"spec":{"replicas":1}})");
  world.settle();
  EXPECT_EQ(group(name).min_member(), 1);
  EXPECT_EQ(group(name).min_resources()->at("cpu"), 2000);
}

TEST_F(PodGroupControllerTest, AStatefulSetThatMakesOnePodAfterTheOtherIsNoGangFromTheStart) {
  const Kind sets{"apps", "v1", "StatefulSet", "statefulsets", true};
  for (const std::string policy : {"OrderedReady", "Parallel"}) {
    world.put(sets, R"({"metadata":{"name":")" + to_lower(policy) +
                        R"(","namespace":"d","annotations":{)"
                        R"("scheduling.volcano.sh/group-min-member":"2"}},"spec":{"replicas":3,)"
                        R"("podManagementPolicy":")" +
                        policy + R"("}})");
    world.settle();
    const ObjectPtr set = world.get(sets, "d", to_lower(policy));
    const std::string name = group_of(pod(set->name() + "-0", owned_by(sets, set)));
    EXPECT_EQ(group(name).min_member(), policy == "Parallel" ? 2 : 1);
  }
}

TEST_F(PodGroupControllerTest, AJobThatRunsTwoAtATimeIsNoGangOfThree) {
  world.put(kinds::kJob,
            R"({"metadata":{"name":"j","namespace":"d","annotations":{)"
            R"("scheduling.volcano.sh/group-min-member":"3"}},"spec":{"parallelism":2}})");
  world.settle();
  const ObjectPtr job = world.get(kinds::kJob, "d", "j");
  EXPECT_EQ(group(group_of(pod("a", owned_by(kinds::kJob, job)))).min_member(), 2);
}

TEST_F(PodGroupControllerTest, TheGroupOfAWorkloadGoesWhenItIsScaledToNothing) {
  const Kind sets{"apps", "v1", "ReplicaSet", "replicasets", true};
  world.put(sets, R"({"metadata":{"name":"rs","namespace":"d"},"spec":{"replicas":1}})");
  world.settle();
  const ObjectPtr set = world.get(sets, "d", "rs");
  const std::string name = group_of(pod("a", owned_by(sets, set)));
  ASSERT_TRUE(group(name));
  world.patch(*set, sets, R"({"spec":{"replicas":0}})");
  world.settle();
  EXPECT_FALSE(group(name));
}

TEST_F(PodGroupControllerTest, AGroupFollowsTheNewestPodOfARollout) {
  for (const std::string name : {"first", "second"})
    world.put(kinds::kQueue,
              R"({"metadata":{"name":")" + name + R"("},"status":{"state":"Open"}})");
  const Kind sets{"apps", "v1", "StatefulSet", "statefulsets", true};
  for (const std::string annotations :
       {"{}", R"({"scheduling.volcano.sh/group-min-member":"1"})"}) {
    world.put(sets, R"({"metadata":{"name":"s","namespace":"d","annotations":)" + annotations +
                        R"(},"spec":{"replicas":2}})");
    world.settle();
    const ObjectPtr set = world.get(sets, "d", "s");
    const auto with = [&](const std::string& queue) {
      return owned_by(sets, set) + R"(,"annotations":{"scheduling.volcano.sh/queue-name":")" +
             queue + R"("})";
    };
    const std::string name = group_of(pod("s-0", with("first")));
    EXPECT_EQ(group(name).queue(), QueueName("first"));
    EXPECT_EQ(group(name).min_resources()->at("cpu"), 2000);
    world.pass(1s);
    pod("s-1", with("second"),
        R"("schedulerName":"volcano","priorityClassName":"high","overhead":{"cpu":"1"})");
    EXPECT_EQ(group(name).queue(), QueueName("second"));
    EXPECT_EQ(group(name).priority_class_name(), "high");
    EXPECT_EQ(group(name).min_resources()->at("cpu"), 3000);
    EXPECT_EQ(group(name).min_member(), 1);
    for (const char* gone : {"s-0", "s-1"}) world.remove(kinds::kPod, "d", gone);
    world.remove(kinds::kPodGroup, "d", name);
    world.remove(sets, "d", "s");
    world.settle();
  }
}

TEST_F(PodGroupControllerTest, APodWhoseControllerIsGoneJoinsTheGroupThatIsThere) {
  const Kind sets{"apps", "v1", "ReplicaSet", "replicasets", true};
  world.put(sets, R"({"metadata":{"name":"rs","namespace":"d"},"spec":{"replicas":2}})");
  world.settle();
  const std::string owner = owned_by(sets, world.get(sets, "d", "rs"));
  const std::string name = group_of(pod("a", owner));
  world.remove(sets, "d", "rs");
  world.settle();
  EXPECT_EQ(group_of(pod("b", owner)), name);
}

TEST_F(PodGroupControllerTest, AWorkloadsQueueIsThatOfItsPodsThatNameNone) {
  world.put(kinds::kQueue, R"({"metadata":{"name":"team"},"status":{"state":"Closed"}})");
  world.put(kinds::kQueue, R"({"metadata":{"name":"own"},"status":{"state":"Open"}})");
  const auto job = [&](const std::string& name) {
    world.put(kinds::kJob, R"({"metadata":{"name":")" + name +
                               R"(","namespace":"d",)"
                               R"("annotations":{"scheduling.volcano.sh/queue-name":"team"}}})");
    world.settle();
    return owned_by(kinds::kJob, world.get(kinds::kJob, "d", name));
  };
  EXPECT_EQ(group_of(pod("waits", job("a"))), "") << "its queue is closed";
  const std::string own = R"(,"annotations":{"scheduling.volcano.sh/queue-name":"own"})";
  EXPECT_EQ(group(group_of(pod("other", job("b") + own))).queue(), QueueName("own"));
  world.patch(*world.get(kinds::kQueue, "", "team"), kinds::kQueue,
              R"({"status":{"state":"Open"}})", "status");
  world.settle();
  const std::string name = group_of(world.get(kinds::kPod, "d", "waits"));
  EXPECT_EQ(group(name).queue(), QueueName("team"));
  world.patch(*world.get(kinds::kJob, "d", "a"), kinds::kJob,
              R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":"own"}}})");
  world.settle();
  EXPECT_EQ(group(name).queue(), QueueName("own"));
}

TEST_F(PodGroupControllerTest, AControllerThatIsNotThereIsNotWaitedForForEver) {
  const std::string owner =
      R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"gone","uid":"u-gone","controller":true}])";
  EXPECT_EQ(group_of(pod("left", owner)), "");
  world.pass(7s);
  EXPECT_EQ(group_of(world.get(kinds::kPod, "d", "left")), "podgroup-u-gone");
  EXPECT_EQ(group("podgroup-u-gone").min_member(), 1);
}

// VC-23
TEST_F(PodGroupControllerTest, InAClosedQueueAPodWaitsUntilItOpens) {
  world.put(kinds::kQueue, R"({"metadata":{"name":"door"},"status":{"state":"Closed"}})");
  const std::string in_door = R"(,"annotations":{"scheduling.volcano.sh/queue-name":"door"})";
  EXPECT_EQ(group_of(pod("bare", in_door)), "");
  world.patch(*world.get(kinds::kQueue, "", "door"), kinds::kQueue,
              R"({"status":{"state":"Open"}})", "status");
  world.settle();
  const std::string name = group_of(world.get(kinds::kPod, "d", "bare"));
  ASSERT_FALSE(name.empty());
  EXPECT_EQ(group(name).queue(), QueueName("door"));
}

TEST_F(PodGroupControllerTest, WhoeverNamesNoQueueWaitsForTheOneItGoesToAsWell) {
  world.put(kinds::kQueue, R"({"metadata":{"name":"default"},"status":{"state":"Closed"}})");
  EXPECT_EQ(group_of(pod("bare")), "");
  EXPECT_EQ(world.controllers.counters().front().failures, 0U)
      << "nothing is tried that is refused";
  world.patch(*world.get(kinds::kQueue, "", "default"), kinds::kQueue,
              R"({"status":{"state":"Open"}})", "status");
  world.settle();
  EXPECT_EQ(group(group_of(world.get(kinds::kPod, "d", "bare"))).queue(), QueueName("default"));
}

TEST_F(PodGroupControllerTest, ANamespacesQueueIsThatOfWhoeverNamesNoneOrDefault) {
  const auto prefer = [&](const std::string& queue) {
    world.put(kinds::kNamespace,
              R"({"metadata":{"name":"d","annotations":{"scheduling.volcano.sh/queue-name":")" +
                  queue + R"("}}})");
    world.settle();
  };
  world.put(kinds::kQueue, R"({"metadata":{"name":"team"},"status":{"state":"Closed"}})");
  world.put(kinds::kQueue, R"({"metadata":{"name":"other"},"status":{"state":"Open"}})");
  prefer("team");
  EXPECT_EQ(group_of(pod("bare")), "");
  EXPECT_EQ(
      group_of(pod("said", R"(,"annotations":{"scheduling.volcano.sh/queue-name":"default"})")),
      "");
  prefer("other");
  for (const std::string name : {"bare", "said"})
    EXPECT_EQ(group(group_of(world.get(kinds::kPod, "d", name))).queue(), QueueName("other"));
  prefer("team");
  world.patch(*world.get(kinds::kPod, "d", "bare"), kinds::kPod,
              R"({"metadata":{"labels":{"a":"b"}}})");
  world.settle();
  EXPECT_EQ(group(group_of(world.get(kinds::kPod, "d", "bare"))).queue(), QueueName("other"))
      << "a group stays where it is";
}

TEST_F(PodGroupControllerTest, LatePodsThatSayDefaultJoinTheirGroupWhereItIs) {
  const auto prefer = [&](const std::string& queue) {
    world.put(kinds::kQueue,
              R"({"metadata":{"name":")" + queue + R"("},"status":{"state":"Open"}})");
    world.put(kinds::kNamespace,
              R"({"metadata":{"name":"d","annotations":{"scheduling.volcano.sh/queue-name":")" +
                  queue + R"("}}})");
    world.settle();
  };
  world.put(kinds::kJob, R"({"metadata":{"name":"j","namespace":"d"}})");
  world.settle();
  const std::string metadata = owned_by(kinds::kJob, world.get(kinds::kJob, "d", "j")) +
                               R"(,"annotations":{"scheduling.volcano.sh/queue-name":"default"})";
  prefer("first");
  const std::string name = group_of(pod("a", metadata));
  EXPECT_EQ(group(name).queue(), QueueName("first"));
  prefer("second");
  EXPECT_EQ(group_of(pod("b", metadata)), name);
  EXPECT_EQ(group(name).queue(), QueueName("first"));
}

}  // namespace
}  // namespace krater::controllers
