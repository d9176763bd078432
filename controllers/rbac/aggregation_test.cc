#include "controllers/rbac/aggregation.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "model/rbac_kinds.h"

namespace krater::controllers {
namespace {

struct AggregationTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_role_aggregation_controller());
    world.controllers.start();
    world.settle();
  }
  void role(const std::string& name, const std::string& labels, const std::string& rest) {
    world.put(kinds::kClusterRole,
              R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels + "}}," + rest + "}");
    world.settle();
  }
  std::string rules(const std::string& name) const {
    const std::shared_ptr<const Json> role = world.get(kinds::kClusterRole, "", name)->document();
    const Json* found = find(*role, {"rules"});
    return found == nullptr ? "" : to_json(*found);
  }
};

constexpr const char* kCollector =
    R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to-view":"true"}}]})";

TEST_F(AggregationTest, TakesOverTheRulesOfTheChosenByNameEachOnce) {
  role("view", "", kCollector);
  role("b", R"("to-view":"true")", R"("rules":[{"verbs":["get"],"resources":["b"]}])");
  role("a", R"("to-view":"true")",
       R"("rules":[{"verbs":["get"],"resources":["a"]},{"verbs":["get"],"resources":["b"]}])");
  role("c", "", R"("rules":[{"verbs":["*"],"resources":["c"]}])");
  EXPECT_EQ(rules("view"),
            R"([{"verbs":["get"],"resources":["a"]},{"verbs":["get"],"resources":["b"]}])");
}

TEST_F(AggregationTest, FollowsChangesAndRemovals) {
  role("a", R"("to-view":"true")", R"("rules":[{"verbs":["get"],"resources":["a"]}])");
  role("view", "", kCollector);
  EXPECT_NE(rules("view").find("\"a\""), std::string::npos);
  world.remove(kinds::kClusterRole, "", "a");
  world.settle();
  EXPECT_EQ(rules("view"), "[]");
}

TEST_F(AggregationTest, CollectorsMayFeedEachOther) {
  role("view", R"("to-edit":"true")", kCollector);
  role("edit", "",
       R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to-edit":"true"}}]})");
  role("a", R"("to-view":"true")", R"("rules":[{"verbs":["get"],"resources":["a"]}])");
  EXPECT_EQ(rules("edit"), R"([{"verbs":["get"],"resources":["a"]}])");
}

TEST_F(AggregationTest, LeavesOtherRolesAlone) {
  role("own", R"("to-view":"true")", R"("rules":[{"verbs":["get"],"resources":["a"]}])");
  EXPECT_EQ(rules("own"), R"([{"verbs":["get"],"resources":["a"]}])");
}

}  // namespace
}  // namespace krater::controllers
