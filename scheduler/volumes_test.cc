// Pods with claims: where their volumes let them go, and what is settled with the binding.
#include <gtest/gtest.h>

#include "base/check.h"
#include "model/storage.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

class VolumesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    add(R"({"nodes":[{"name":"n1","cpu":4,"labels":{"kubernetes.io/hostname":"n1"}},
                     {"name":"n2","cpu":4,"labels":{"kubernetes.io/hostname":"n2"}}],
            "queues":[{"name":"default"}]})");
  }
  void add(std::string_view json) {
    cluster.add(*parse_json(json));
    cluster.settle();
  }
  void put(const Kind& kind, const std::string& json) {
    Result<Json> parsed = parse_json(json);
    CHECK_MSG(parsed.has_value(), json);
    cluster.client.put(kind, *std::move(parsed));
    cluster.settle();
  }
  void storage_class(const std::string& name, const std::string& provisioner,
                     const std::string& mode) {
    put(kinds::kStorageClass, R"({"metadata":{"name":")" + name + R"("},"provisioner":")" +
                                  provisioner + R"(","volumeBindingMode":")" + mode + R"("})");
  }
  void local_volume(const std::string& name, const std::string& node) {
    put(kinds::kPersistentVolume,
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"local","volumeMode":"Filesystem","local":{"path":"/x"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":[")" +
            node + R"("]}]}]}}},"status":{"phase":"Available"}})");
  }
  void claim(const std::string& name, const std::string& of, const std::string& volume = "") {
    const std::string bound =
        volume.empty() ? "" : R"("annotations":{"pv.kubernetes.io/bind-completed":"yes"},)";
    put(kinds::kPersistentVolumeClaim,
        R"({"metadata":{)" + bound + R"("name":")" + name +
            R"(","namespace":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem","storageClassName":")" +
            of + "\"" + (volume.empty() ? "" : R"(,"volumeName":")" + volume + "\"") +
            R"(},"status":{"phase":")" + (volume.empty() ? "Pending" : "Bound") + R"("}})");
  }
  void pod(const std::string& name, const std::string& claim_name, const std::string& group = "") {
    add(R"({"pods":[{"name":")" + name + R"(","cpu":1,)" +
        (group.empty() ? "" : R"("group":")" + group + R"(",)") +
        R"("spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + claim_name +
        R"("}}]}}]})");
  }
  PersistentVolumeView volume(const std::string& name) const {
    return PersistentVolumeView(cluster.client.read(kinds::kPersistentVolume, "", name));
  }
  std::string chosen(const std::string& name) const {
    return PersistentVolumeClaimView(cluster.client.read(kinds::kPersistentVolumeClaim, "d", name))
        .selected_node();
  }

  Harness cluster;
};

TEST_F(VolumesTest, APodWaitsForItsClaimAndTheNodeIsToldToWhoeverMakesTheVolume) {
  pod("p", "c");
  EXPECT_EQ(cluster.node_of("p"), "");
  EXPECT_NE(cluster.pod_message("p").find("persistentvolumeclaim \"c\" not found"),
            std::string::npos)
      << cluster.pod_message("p");
  storage_class("standard", "krater.io/node-directory", "WaitForFirstConsumer");
  claim("c", "standard");
  ASSERT_NE(cluster.node_of("p"), "");
  EXPECT_EQ(chosen("c"), cluster.node_of("p"));
}

TEST_F(VolumesTest, ABoundVolumeDecidesTheNode) {
  storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  local_volume("v", "n2");
  claim("c", "local", "v");
  pod("p", "c");
  EXPECT_EQ(cluster.node_of("p"), "n2");
}

TEST_F(VolumesTest, AVolumeOfNoNodeKeepsThePodWaiting) {
  storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  local_volume("v", "n3");
  claim("c", "local", "v");
  pod("p", "c");
  EXPECT_EQ(cluster.node_of("p"), "");
  EXPECT_NE(cluster.pod_message("p").find("2 node(s) had volume node affinity conflict"),
            std::string::npos)
      << cluster.pod_message("p");
}

TEST_F(VolumesTest, AGangReservesAVolumeForEachOfItsPods) {
  storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  local_volume("v1", "n1");
  local_volume("v2", "n2");
  claim("a", "local");
  claim("b", "local");
  add(R"({"groups":[{"name":"g","min":2}]})");
  pod("pa", "a", "g");
  EXPECT_EQ(cluster.node_of("pa"), "");
  EXPECT_EQ(volume("v1").claim_ref(), nullptr);
  pod("pb", "b", "g");
  ASSERT_NE(cluster.node_of("pa"), "");
  ASSERT_NE(cluster.node_of("pb"), "");
  EXPECT_NE(cluster.node_of("pa"), cluster.node_of("pb"));
  const std::string of_a = cluster.node_of("pa") == "n1" ? "v1" : "v2";
  EXPECT_EQ(volume(of_a).claim_name(), "a");
  EXPECT_EQ(volume(of_a == "v1" ? "v2" : "v1").claim_name(), "b");
}

TEST_F(VolumesTest, AGangThatFindsTooFewVolumesReservesNone) {
  storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  local_volume("v1", "n1");
  claim("a", "local");
  claim("b", "local");
  add(R"({"groups":[{"name":"g","min":2}]})");
  pod("pa", "a", "g");
  pod("pb", "b", "g");
  EXPECT_EQ(cluster.node_of("pa"), "");
  EXPECT_EQ(cluster.node_of("pb"), "");
  EXPECT_EQ(volume("v1").claim_ref(), nullptr);
  local_volume("v2", "n1");
  EXPECT_EQ(cluster.node_of("pa"), "n1");
  EXPECT_EQ(cluster.node_of("pb"), "n1");
}

TEST_F(VolumesTest, AClaimThatDoesNotWaitMustBeBoundFirst) {
  storage_class("now", "example.com/disks", "Immediate");
  claim("c", "now");
  pod("p", "c");
  EXPECT_EQ(cluster.node_of("p"), "");
  EXPECT_NE(cluster.pod_message("p").find("pod has unbound immediate PersistentVolumeClaims"),
            std::string::npos)
      << cluster.pod_message("p");
}

class OutsideVolumesTest : public VolumesTest {
 protected:
  void SetUp() override {
    VolumesTest::SetUp();
    storage_class("disks", "example.com/disks", "WaitForFirstConsumer");
  }
  // What whoever makes volumes does in the end.
  void make_volume(const std::string& of) {
    put(kinds::kPersistentVolume,
        R"({"metadata":{"name":"v-)" + of +
            R"("},"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"disks","volumeMode":"Filesystem","hostPath":{"path":"/x"},"claimRef":{"namespace":"d","name":")" +
            of + R"("}},"status":{"phase":"Bound"}})");
    claim(of, "disks", "v-" + of);
  }
  void give_up(const std::string& of) {
    Json next = *cluster.client.read(kinds::kPersistentVolumeClaim, "d", of)->document();
    erase_path(next, {"metadata", "annotations"});
    cluster.client.put(kinds::kPersistentVolumeClaim, std::move(next));
    cluster.settle();
  }
};

TEST_F(OutsideVolumesTest, NobodyOfAGangIsBoundBeforeAllItsVolumesAreThere) {
  claim("a", "disks");
  claim("b", "disks");
  add(R"({"groups":[{"name":"g","min":2}]})");
  pod("pa", "a", "g");
  pod("pb", "b", "g");
  EXPECT_NE(chosen("a"), "");
  EXPECT_NE(chosen("b"), "");
  EXPECT_EQ(cluster.node_of("pa"), "");
  EXPECT_NE(cluster.group("g").phase(), PodGroupPhase::Running);
  make_volume("a");
  EXPECT_EQ(cluster.node_of("pa"), "");
  const std::string node = chosen("b");
  make_volume("b");
  EXPECT_NE(cluster.node_of("pa"), "");
  EXPECT_EQ(cluster.node_of("pb"), node);
}

TEST_F(OutsideVolumesTest, WhatIsKeptForAPodIsNotGivenToOthers) {
  claim("a", "disks");
  add(R"({"nodes":[{"name":"n2","cpu":0,"labels":{"kubernetes.io/hostname":"n2"}}]})");
  pod("pa", "a");
  ASSERT_EQ(chosen("a"), "n1");
  add(R"({"pods":[{"name":"wide","cpu":4}]})");
  EXPECT_EQ(cluster.node_of("wide"), "");
  cluster.remove(yaml("pods: [pa]"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("wide"), "n1");
}

TEST_F(OutsideVolumesTest, WhereNoVolumeCanBeMadeThePodGoesElsewhere) {
  claim("a", "disks");
  pod("pa", "a");
  const std::string first = chosen("a");
  ASSERT_NE(first, "");
  cluster.add(yaml("nodes: [{name: " + first + ", cpu: 0}]"));
  give_up("a");
  EXPECT_EQ(cluster.node_of("pa"), "");
  EXPECT_EQ(chosen("a"), first == "n1" ? "n2" : "n1");
}

TEST_F(OutsideVolumesTest, APodIsTriedAnewWhenItsVolumeTakesTooLong) {
  claim("a", "disks");
  pod("pa", "a");
  cluster.settle(std::chrono::minutes(11));
  EXPECT_GT(cluster.scheduler.metrics().bind_failures, 0U);
  make_volume("a");
  EXPECT_NE(cluster.node_of("pa"), "");
}

TEST_F(OutsideVolumesTest, AClaimOfTwoPodsIsAskedForOnce) {
  claim("a", "disks");
  add(R"({"groups":[{"name":"g","min":2}]})");
  pod("pa", "a", "g");
  pod("pb", "a", "g");
  make_volume("a");
  EXPECT_NE(cluster.node_of("pa"), "");
  EXPECT_NE(cluster.node_of("pb"), "");
}

class VolumeLimitsTest : public VolumesTest {
 protected:
  void limit(const std::string& node, int count) {
    put(kCsiNodeKind,
        R"({"metadata":{"name":")" + node +
            R"("},"spec":{"drivers":[{"name":"disk","nodeID":"x","allocatable":{"count":)" +
            std::to_string(count) + "}}]}}");
  }
  void disk(const std::string& name) {
    put(kinds::kPersistentVolume,
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"disks","volumeMode":"Filesystem","csi":{"driver":"disk","volumeHandle":")" +
            name + R"("}},"status":{"phase":"Bound"}})");
    claim(name, "disks", name);
  }
};

TEST_F(VolumeLimitsTest, ANodeHasSoManyVolumesOfADriverAndNoMore) {
  storage_class("disks", "disk", "WaitForFirstConsumer");
  limit("n1", 2);
  limit("n2", 0);
  for (const std::string name : {"a", "b", "c"}) {
    disk(name);
    pod(name, name);
  }
  EXPECT_EQ(cluster.node_of("a"), "n1");
  EXPECT_EQ(cluster.node_of("b"), "n1");
  EXPECT_EQ(cluster.node_of("c"), "");
  EXPECT_NE(cluster.pod_message("c").find("2 node(s) exceed max volume count"), std::string::npos)
      << cluster.pod_message("c");
  // A volume that is there already is none more.
  pod("b2", "b");
  EXPECT_EQ(cluster.node_of("b2"), "n1");
  limit("n2", 1);
  EXPECT_EQ(cluster.node_of("c"), "n2");
}

TEST_F(VolumeLimitsTest, WhatIsAttachedAndWhatIsStillToBeMadeCounts) {
  storage_class("disks", "disk", "WaitForFirstConsumer");
  limit("n1", 1);
  limit("n2", 1);
  disk("old");
  put(kVolumeAttachmentKind,
      R"({"metadata":{"name":"va"},"spec":{"attacher":"disk","nodeName":"n1","source":{"persistentVolumeName":"old"}}})");
  claim("new", "disks");
  pod("p", "new");
  EXPECT_EQ(chosen("new"), "n2");
  claim("newer", "disks");
  pod("q", "newer");
  EXPECT_EQ(cluster.node_of("q"), "");
  pod("o", "old");
  EXPECT_EQ(cluster.node_of("o"), "n1") << "it is attached there";
}

TEST_F(VolumeLimitsTest, ANodeThatSaysNothingHasNoLimitAndTheCheckCanBeSwitchedOff) {
  storage_class("disks", "disk", "WaitForFirstConsumer");
  limit("n1", 0);
  disk("a");
  pod("a", "a");
  EXPECT_EQ(cluster.node_of("a"), "n2");
  add(R"({"nodes":[{"name":"n2","cpu":0}]})");
  disk("b");
  pod("b", "b");
  EXPECT_EQ(cluster.node_of("b"), "");
  add(R"({"config":"actions: allocate\ntiers:\n- plugins: [{name: predicates, arguments: {predicate.NodeVolumeLimitsEnable: false}}]\n"})");
  EXPECT_EQ(cluster.node_of("b"), "n1");
}

// Volumes whose makers label them, and say no more of where they are reached from.
TEST_F(VolumesTest, AVolumeLabelledWithAZoneIsUsedThere) {
  const auto zoned = [&](const std::string& name, const std::string& labels) {
    put(kinds::kPersistentVolume,
        R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
            R"(}},"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"disk","csi":{"driver":"x","volumeHandle":")" +
            name + R"("}},"status":{"phase":"Bound"}})");
    claim(name, "disk", name);
    pod(name, name);
    return cluster.node_of(name);
  };
  storage_class("disk", "x", "WaitForFirstConsumer");
  const std::string zone = "topology.kubernetes.io/zone";
  const std::string old_zone = "failure-domain.beta.kubernetes.io/zone";
  EXPECT_NE(zoned("anywhere", '"' + zone + R"(":"z1")"), "") << "no node says where it is";
  add(R"({"nodes":[{"name":"n1","cpu":8,"labels":{"topology.kubernetes.io/zone":"z1"}},
                   {"name":"n2","cpu":8,"labels":{"topology.kubernetes.io/zone":"z2"}}]})");
  EXPECT_EQ(zoned("second", '"' + zone + R"(":"z2")"), "n2");
  EXPECT_EQ(zoned("old", '"' + old_zone + R"(":"z1")"), "n1");
  EXPECT_EQ(zoned("either", '"' + zone + R"(":"z0__z2")"), "n2");
  EXPECT_NE(zoned("unreadable", '"' + zone + R"(":"z0__")"), "");
  EXPECT_EQ(zoned("third", '"' + zone + R"(":"z3")"), "");
  EXPECT_EQ(zoned("region", R"("topology.kubernetes.io/region":"r")"), "") << "no node has one";
  EXPECT_NE(cluster.pod_message("third").find("2 node(s) had no available volume zone"),
            std::string::npos)
      << cluster.pod_message("third");
  add(R"({"config":"actions: allocate\ntiers:\n- plugins: [{name: predicates, arguments: {predicate.VolumeZoneEnable: false}}]\n"})");
  EXPECT_NE(cluster.node_of("third"), "");
}

}  // namespace
}  // namespace krater::scheduler
