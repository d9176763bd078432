// Claims and volumes, with hands that play scheduler, agent and user.
#include "model/storage.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "controllers/storage/storage_controllers.h"
#include "model/keys.h"

namespace krater::controllers {
namespace {

using kinds::kPersistentVolume;
using kinds::kPersistentVolumeClaim;
using kinds::kStorageClass;

struct StorageTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_claim_controller());
    world.controllers.add(make_volume_controller());
    world.controllers.add(make_ephemeral_volume_controller());
    world.controllers.start();
    world.settle();
  }
  void storage_class(const std::string& name, const std::string& provisioner,
                     const std::string& mode, const std::string& policy = "Delete") {
    world.put(kStorageClass, R"({"metadata":{"name":")" + name + R"("},"provisioner":")" +
                                 provisioner + R"(","volumeBindingMode":")" + mode +
                                 R"(","reclaimPolicy":")" + policy + R"("})");
  }
  void volume(const std::string& name, const std::string& size, const std::string& more = "") {
    world.put(
        kPersistentVolume,
        R"({"metadata":{"name":")" + name +
            R"(","finalizers":["kubernetes.io/pv-protection"]},"spec":{"capacity":{"storage":")" +
            size +
            R"("},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"},"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem")" +
            more + "}}");
    world.settle();
  }
  void claim(const std::string& name, const std::string& size, const std::string& more = "") {
    world.put(
        kPersistentVolumeClaim,
        R"({"metadata":{"name":")" + name +
            R"(","namespace":"d","finalizers":["kubernetes.io/pvc-protection"]},"spec":{"resources":{"requests":{"storage":")" +
            size + R"("}},"accessModes":["ReadWriteOnce"],"volumeMode":"Filesystem")" + more +
            "}}");
    world.settle();
  }
  void node(const std::string& name) {
    world.put(kinds::kNode, R"({"metadata":{"name":")" + name +
                                R"(","labels":{"kubernetes.io/hostname":")" + name +
                                R"("},"annotations":{"krater.io/volumes-directory":"/data/)" +
                                name + R"("}}})");
  }
  void pod(const std::string& name, const std::string& claim_name, const std::string& on) {
    world.put(kinds::kPod,
              R"({"metadata":{"name":")" + name + R"(","namespace":"d"},"spec":{"nodeName":")" +
                  on + R"(","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" +
                  claim_name + R"("}}]}})");
    world.settle();
  }
  void choose(const std::string& name, const std::string& on) {
    world.patch(
        *got(name).object(), kPersistentVolumeClaim,
        R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":")" + on + R"("}}})");
    world.settle();
  }
  void remove_claim(const std::string& name) {
    world.remove(kPersistentVolumeClaim, "d", name);
    world.settle();
  }
  PersistentVolumeClaimView got(const std::string& name) const {
    return PersistentVolumeClaimView(world.get(kPersistentVolumeClaim, "d", name));
  }
  PersistentVolumeView kept(const std::string& name) const {
    return PersistentVolumeView(world.get(kPersistentVolume, "", name));
  }
};

TEST_F(StorageTest, AClaimGetsTheVolumeThatFitsAndBothNameEachOther) {
  volume("big", "9Gi");
  volume("small", "2Gi");
  EXPECT_EQ(kept("small").phase(), "Available");
  claim("c", "1Gi");
  EXPECT_EQ(got("c").volume_name(), "small");
  EXPECT_EQ(got("c").phase(), "Bound");
  EXPECT_EQ(text_at(got("c").document(), {"status", "capacity", "storage"}), "2Gi");
  EXPECT_TRUE(got("c").bound());
  EXPECT_EQ(kept("small").phase(), "Bound");
  EXPECT_EQ(kept("small").claim_uid(), got("c")->uid());
  EXPECT_EQ(kept("big").phase(), "Available");
}

TEST_F(StorageTest, AClaimWaitsUntilAVolumeComes) {
  claim("c", "1Gi");
  EXPECT_EQ(got("c").phase(), "Pending");
  EXPECT_GE(world.told("FailedBinding"), 1);
  volume("v", "1Gi");
  EXPECT_EQ(got("c").phase(), "Bound");
}

TEST_F(StorageTest, TwoClaimsNeverGetOneVolume) {
  volume("v", "5Gi");
  claim("a", "1Gi");
  claim("b", "1Gi");
  EXPECT_EQ(got("a").phase(), "Bound");
  EXPECT_EQ(got("b").phase(), "Pending");
}

TEST_F(StorageTest, ARetainedVolumeIsReleasedAndNotGivenAgain) {
  volume("v", "5Gi");
  claim("a", "1Gi");
  remove_claim("a");
  EXPECT_FALSE(got("a"));
  EXPECT_EQ(kept("v").phase(), "Released");
  claim("b", "1Gi");
  EXPECT_EQ(got("b").phase(), "Pending");
  world.patch(*kept("v").object(), kPersistentVolume, R"({"spec":{"claimRef":null}})");
  world.settle();
  EXPECT_EQ(got("b").phase(), "Bound");
}

TEST_F(StorageTest, AStaticVolumeThatShallBeDeletedFailsAndSaysWhy) {
  world.put(
      kPersistentVolume,
      R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"},"persistentVolumeReclaimPolicy":"Delete","volumeMode":"Filesystem"}})");
  world.settle();
  claim("a", "1Gi");
  remove_claim("a");
  EXPECT_EQ(kept("v").phase(), "Failed");
  EXPECT_EQ(text_at(kept("v").document(), {"status", "message"}),
            "error getting deleter volume plugin for volume \"v\": no deletable volume plugin "
            "matched");
}

TEST_F(StorageTest, AClaimStaysWhilePodsOnNodesUseIt) {
  volume("v", "5Gi");
  claim("c", "1Gi");
  pod("p", "c", "n");
  remove_claim("c");
  EXPECT_TRUE(got("c"));
  EXPECT_EQ(kept("v").phase(), "Bound");
  world.remove(kinds::kPod, "d", "p");
  world.settle();
  EXPECT_FALSE(got("c"));
}

TEST_F(StorageTest, ABoundVolumeStaysUntilItsClaimIsGone) {
  volume("v", "5Gi");
  claim("c", "1Gi");
  world.remove(kPersistentVolume, "", "v");
  world.settle();
  EXPECT_TRUE(kept("v"));
  remove_claim("c");
  EXPECT_FALSE(kept("v"));
}

TEST_F(StorageTest, AClaimThatLosesItsVolumeIsLost) {
  world.put(
      kPersistentVolume,
      R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"},"volumeMode":"Filesystem"}})");
  claim("c", "1Gi");
  ASSERT_EQ(got("c").phase(), "Bound");
  world.remove(kPersistentVolume, "", "v");
  world.settle();
  EXPECT_EQ(got("c").phase(), "Lost");
  EXPECT_EQ(world.told("ClaimLost"), 1);
}

TEST_F(StorageTest, AClassThatWaitsIsBoundWhenTheSchedulerHasReservedAVolume) {
  storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  volume("v", "5Gi", R"(,"storageClassName":"local")");
  claim("c", "1Gi", R"(,"storageClassName":"local")");
  EXPECT_EQ(got("c").phase(), "Pending");
  EXPECT_GE(world.told("WaitForFirstConsumer"), 1);
  world.patch(*kept("v").object(), kPersistentVolume,
              R"({"spec":{"claimRef":{"namespace":"d","name":"c","uid":")" +
                  got("c")->uid().text() + R"("}}})");
  world.settle();
  EXPECT_EQ(got("c").phase(), "Bound");
  EXPECT_EQ(kept("v").phase(), "Bound");
}

TEST_F(StorageTest, ADirectoryIsMadeOnTheChosenNode) {
  storage_class("standard", "krater.io/node-directory", "WaitForFirstConsumer");
  node("n1");
  claim("c", "3Gi", R"(,"storageClassName":"standard")");
  EXPECT_EQ(world.fake.all(kPersistentVolume).size(), 0U);
  choose("c", "n1");
  ASSERT_EQ(got("c").phase(), "Bound");
  const PersistentVolumeView volume = kept(got("c").volume_name());
  EXPECT_EQ(volume->name(), "pvc-" + got("c")->uid().text());
  EXPECT_EQ(volume.node_path(), "/data/n1/" + volume->name());
  EXPECT_EQ(volume.capacity().text(), "3Gi");
  EXPECT_EQ(volume.annotation(keys::kVolumeNode), "n1");
  EXPECT_FALSE(volume.affinity().allows("n2", {{std::string(keys::kHostname), "n2"}}));
  EXPECT_TRUE(volume.affinity().allows("n1", {{std::string(keys::kHostname), "n1"}}));
  EXPECT_EQ(world.told("ProvisioningSucceeded"), 1);
}

TEST_F(StorageTest, ADirectoryGoesWithItsClaimWhenItsNodeHasRemovedIt) {
  storage_class("standard", "krater.io/node-directory", "WaitForFirstConsumer");
  node("n1");
  claim("c", "3Gi", R"(,"storageClassName":"standard")");
  choose("c", "n1");
  const std::string name = got("c").volume_name();
  world.patch(*kept(name).object(), kPersistentVolume,
              R"({"metadata":{"finalizers":["krater.io/node-directory"]}})");
  remove_claim("c");
  ASSERT_TRUE(kept(name));
  EXPECT_TRUE(kept(name)->deletion().has_value());
  world.patch(*kept(name).object(), kPersistentVolume, R"({"metadata":{"finalizers":null}})");
  world.settle();
  EXPECT_FALSE(kept(name));
}

TEST_F(StorageTest, ADirectoryOfANodeThatIsGoneHoldsNothingUp) {
  storage_class("standard", "krater.io/node-directory", "WaitForFirstConsumer");
  node("n1");
  claim("c", "3Gi", R"(,"storageClassName":"standard")");
  choose("c", "n1");
  const std::string name = got("c").volume_name();
  world.patch(*kept(name).object(), kPersistentVolume,
              R"({"metadata":{"finalizers":["krater.io/node-directory"]}})");
  remove_claim("c");
  ASSERT_TRUE(kept(name));
  world.remove(kinds::kNode, "", "n1");
  world.settle();
  EXPECT_FALSE(kept(name));
}

TEST_F(StorageTest, AVanishedChoiceIsMadeAgain) {
  storage_class("standard", "krater.io/node-directory", "WaitForFirstConsumer");
  claim("c", "3Gi", R"(,"storageClassName":"standard")");
  choose("c", "nowhere");
  EXPECT_EQ(got("c").selected_node(), "");
  EXPECT_EQ(got("c").phase(), "Pending");
}

TEST_F(StorageTest, OtherProvisionersAreAsked) {
  storage_class("far", "example.com/disks", "Immediate");
  claim("c", "3Gi", R"(,"storageClassName":"far")");
  EXPECT_EQ(got("c").annotation(keys::kStorageProvisioner), "example.com/disks");
  EXPECT_GE(world.told("ExternalProvisioning"), 1);
}

TEST_F(StorageTest, AnEphemeralVolumeHasAClaimThatThePodOwns) {
  world.put(
      kinds::kPod,
      R"({"metadata":{"name":"p","namespace":"d"},"spec":{"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}})");
  world.settle();
  const PersistentVolumeClaimView claim = got("p-v");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->label("a"), "b");
  ASSERT_NE(claim->controller(), nullptr);
  EXPECT_EQ(claim->controller()->name, "p");
  EXPECT_EQ(claim.request().text(), "1Gi");
}

}  // namespace
}  // namespace krater::controllers
