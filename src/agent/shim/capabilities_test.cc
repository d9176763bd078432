#include "agent/shim/capabilities.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace krater::agent {
namespace {

std::set<int> kept(std::vector<std::string> add, std::vector<std::string> drop) {
  ContainerRun run;
  run.add_capabilities = std::move(add);
  run.drop_capabilities = std::move(drop);
  return *kept_capabilities(run);
}

TEST(Capabilities, AreTheUsualOnesLessTheDroppedPlusTheAdded) {
  EXPECT_EQ(kept({}, {}).size(), 14U);
  EXPECT_FALSE(kept({}, {"NET_RAW"}).contains(CAP_NET_RAW));
  EXPECT_TRUE(kept({"NET_ADMIN"}, {}).contains(CAP_NET_ADMIN));
  EXPECT_EQ(kept({"NET_BIND_SERVICE"}, {"ALL"}), std::set<int>{CAP_NET_BIND_SERVICE});
  EXPECT_TRUE(kept({"ALL"}, {}).contains(CAP_CHECKPOINT_RESTORE));
}

TEST(Capabilities, OneThatDoesNotExistIsNamed) {
  ContainerRun run;
  run.add_capabilities = {"FLY"};
  EXPECT_EQ(kept_capabilities(run).error().message, "there is no capability FLY");
}

}  // namespace
}  // namespace krater::agent
