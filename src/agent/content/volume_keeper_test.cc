#include "agent/content/volume_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/shim/files.h"
#include "model/storage.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

class VolumeKeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/krater-volumes-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory = name;
    keeper = std::make_unique<VolumeKeeper>(client, loop, directory, "n1");
    keeper->start();
  }
  void TearDown() override {
    keeper.reset();
    EXPECT_TRUE(remove_tree(directory).has_value());
  }
  void volume(const std::string& name, const std::string& node, const std::string& path) {
    Json object = *parse_json(R"({"metadata":{"finalizers":["krater.io/node-directory","x/y"]}})");
    set_path(object, {"metadata", "name"}, Json(name));
    set_path(object, {"metadata", "annotations", keys::kVolumeNode}, Json(node));
    set_path(object, {"spec", "hostPath", "path"}, Json(path));
    client.put(kinds::kPersistentVolume, std::move(object));
    ASSERT_TRUE(make_directories(directory + "/" + name + "/inside").has_value());
  }
  void remove(const std::string& name) {
    ASSERT_TRUE(client.apply(client::DeleteWrite{kinds::kPersistentVolume, "", name}).has_value());
  }
  bool there(const std::string& name) const {
    return ::access((directory + "/" + name).c_str(), F_OK) == 0;
  }

  krater::testing::ManualLoop loop;
  krater::testing::FakeClient client{loop, loop.wall()};
  std::string directory;
  std::unique_ptr<VolumeKeeper> keeper;
};

TEST_F(VolumeKeeperTest, ADirectoryGoesWhenItsVolumeIsDeleted) {
  volume("pvc-1", "n1", directory + "/pvc-1");
  loop.advance(std::chrono::seconds(20));
  EXPECT_TRUE(there("pvc-1"));
  remove("pvc-1");
  loop.advance(std::chrono::seconds(20));
  EXPECT_FALSE(there("pvc-1"));
  const ObjectPtr left = client.read(kinds::kPersistentVolume, "", "pvc-1");
  ASSERT_NE(left, nullptr);  // somebody else's finalizer holds it
  EXPECT_EQ(left->finalizers(), std::vector<std::string>{"x/y"});
}

TEST_F(VolumeKeeperTest, WhatNobodyDeletedStays) {
  ASSERT_TRUE(make_directories(directory + "/unknown").has_value());
  volume("pvc-other", "n2", directory + "/pvc-other");
  volume("pvc-else", "n1", "/etc");
  remove("pvc-other");
  remove("pvc-else");
  loop.advance(std::chrono::seconds(20));
  EXPECT_TRUE(there("unknown"));
  EXPECT_TRUE(there("pvc-other"));
  EXPECT_TRUE(there("pvc-else"));
}

}  // namespace
}  // namespace krater::agent
