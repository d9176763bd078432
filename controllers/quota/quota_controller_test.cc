// When a quota is counted anew: the writes that ask for it.
#include "controllers/quota/quota_controller.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "model/workload_kinds.h"

namespace krater::controllers {
namespace {

struct QuotaControllerTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_quota_controller({kinds::kPod, kinds::kConfigMap}));
    world.controllers.start();
    world.settle();
    world.put(kinds::kResourceQuota,
              R"({"metadata":{"name":"q","namespace":"d"},"spec":{"hard":{"pods":"2"}}})");
    world.settle();
    world.pass(1s);
  }
  // Asked for since the last call.
  std::size_t counts() {
    const std::size_t now = world.fake.writes.size();
    return now - std::exchange(seen, now);
  }
  void pod(const std::string& name_space, const std::string& name) {
    world.put(kinds::kPod,
              R"({"metadata":{"name":")" + name + R"(","namespace":")" + name_space + R"("}})");
    world.settle();
    world.pass(1s);
  }

  std::size_t seen = 0;
};

TEST_F(QuotaControllerTest, IsCountedWhenSomethingComesGoesOrEnds) {
  EXPECT_EQ(counts(), 1U);
  pod("d", "p");
  EXPECT_EQ(counts(), 1U);
  world.patch(*world.get(kinds::kPod, "d", "p"), kinds::kPod,
              R"({"metadata":{"labels":{"a":"b"}}})");
  world.settle();
  world.pass(1s);
  EXPECT_EQ(counts(), 0U);
  world.patch(*world.get(kinds::kPod, "d", "p"), kinds::kPod, R"({"status":{"phase":"Failed"}})");
  world.settle();
  world.pass(1s);
  EXPECT_EQ(counts(), 1U);
  world.remove(kinds::kPod, "d", "p");
  world.settle();
  world.pass(1s);
  EXPECT_EQ(counts(), 1U);
}

TEST_F(QuotaControllerTest, OtherNamespacesDoNotMatter) {
  counts();
  pod("elsewhere", "p");
  EXPECT_EQ(counts(), 0U);
}

TEST_F(QuotaControllerTest, ManyChangesAreCountedOnceASecond) {
  counts();
  for (int i = 0; i < 50; ++i) {
    world.put(kinds::kConfigMap,
              R"({"metadata":{"name":"m)" + std::to_string(i) + R"(","namespace":"d"}})");
    world.settle();
  }
  world.pass(2s);
  EXPECT_LE(counts(), 2U);
}

}  // namespace
}  // namespace krater::controllers
