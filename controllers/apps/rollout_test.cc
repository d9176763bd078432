// Each case: a deployment, its sets "replicas/available" from the oldest to the newest, and the
// replicas they get next.
#include "controllers/apps/rollout.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace krater::controllers {
namespace {

ObjectPtr object(const Kind& kind, const std::string& name, Json json) {
  set_path(json, {"apiVersion"}, Json(kind.api_version()));
  set_path(json, {"kind"}, Json(kind.kind));
  set_path(json, {"metadata", "name"}, Json(name));
  set_path(json, {"metadata", "uid"}, Json("uid-" + name));
  Result<ObjectPtr> out = Object::parse(ObjectKey::of(kind, "d", name), Revision(1),
                                        std::make_shared<const std::string>(to_json(json)));
  EXPECT_TRUE(out.has_value());
  return *out;
}

DeploymentView deployment(std::int64_t replicas, std::string_view surge, std::string_view missing) {
  Result<Json> parsed =
      parse_json(R"({"spec":{"replicas":)" + std::to_string(replicas) +
                 R"(,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":)" +
                 std::string(surge) + R"(,"maxUnavailable":)" + std::string(missing) + "}}}}");
  EXPECT_TRUE(parsed.has_value());
  return DeploymentView(object(kinds::kDeployment, "d", *parsed));
}

// "3/2 4/4": replicas and available of each set. `sized`: the deployment's size they were scaled
// for.
std::vector<SetPlan> sets_of(std::string_view text, std::int64_t sized, std::int64_t most) {
  std::vector<SetPlan> out;
  for (const std::string_view one : split(text, ' ')) {
    const std::vector<std::string_view> numbers = split(one, '/');
    Json json(boost::json::object_kind);
    set_path(json, {"metadata", "annotations", keys::kDesiredReplicas},
             Json(std::to_string(sized)));
    set_path(json, {"metadata", "annotations", keys::kMaxReplicas}, Json(std::to_string(most)));
    set_path(json, {"spec", "replicas"}, *parse_int(numbers[0]));
    set_path(json, {"status", "availableReplicas"}, *parse_int(numbers[1]));
    out.emplace_back(
        ReplicaSetView(object(kinds::kReplicaSet, "s" + std::to_string(out.size()), json)));
  }
  return out;
}

std::string replicas_of(const std::vector<SetPlan>& sets) {
  std::vector<std::string> out;
  for (const SetPlan& plan : sets) out.push_back(std::to_string(plan.replicas));
  return join(out, " ");
}

TEST(Rollout, StepsStayWithinSurgeAndAvailability) {
  const struct {
    std::string_view rule;
    std::int64_t replicas;
    std::string_view surge, missing, before, after;
  } cases[] = {
      {"the new set grows into the surge", 4, "1", "1", "4/4 0/0", "4 1"},
      {"then old pods go while availability allows", 4, "1", "1", "4/4 1/0", "3 1"},
      {"nothing moves while new pods are not available", 4, "1", "0", "4/4 1/0", "4 1"},
      {"one new pod available lets one old go", 4, "1", "0", "4/4 1/1", "3 1"},
      {"unhealthy old pods go first", 4, "1", "1", "4/2 1/1", "2 1"},
      {"without surge old ones go first", 3, "0", "1", "3/3 0/0", "2 0"},
      {"then the new set fills the gap", 3, "0", "1", "2/2 0/0", "2 1"},
      {"percentages: surge up, missing down", 10, R"("25%")", R"("25%")", "10/10 0/0", "10 3"},
      {"both rounded to nothing still move", 1, "0", R"("25%")", "1/1 0/0", "0 0"},
      {"a new set that is too large shrinks", 2, "1", "1", "0/0 5/5", "0 2"},
      {"the oldest goes before the old", 4, "1", "1", "2/2 2/2 1/1", "0 2 1"},
      {"done", 3, "1", "1", "0/0 3/3", "0 3"},
  };
  for (const auto& item : cases) {
    const DeploymentView view = deployment(item.replicas, item.surge, item.missing);
    std::vector<SetPlan> sets = sets_of(item.before, item.replicas, item.replicas);
    if (!grow_newest(view, sets, sets.back())) shrink_others(view, sets, sets.back());
    EXPECT_EQ(replicas_of(sets), item.after) << item.rule;
  }
}

TEST(Rollout, ANewSizeIsSpreadInProportion) {
  const struct {
    std::string_view rule;
    std::int64_t from, to;
    std::string_view surge, before, after;
  } cases[] = {
      {"a single set takes all", 3, 5, "1", "3/3", "5"},
      {"the only active one, old or not", 3, 5, "1", "3/3 0/0", "5 0"},
      {"none is active: the newest", 0, 2, "1", "0/0 0/0", "0 2"},
      // The documented example: 10 replicas in roll-out 8 + 5, to 15: 5 more, the larger share to
      // the larger.
      {"more for the larger", 10, 15, "3", "8/8 5/0", "11 7"},
      {"less for the larger", 10, 5, "3", "8/8 5/0", "5 3"},
      {"to nothing", 10, 0, "3", "8/8 5/0", "0 0"},
  };
  for (const auto& item : cases) {
    const DeploymentView view = deployment(item.to, item.surge, "2");
    std::vector<SetPlan> sets = sets_of(item.before, item.from, item.from + 3);
    EXPECT_TRUE(spread(view, sets, &sets.back())) << item.rule;
    EXPECT_EQ(replicas_of(sets), item.after) << item.rule;
    EXPECT_FALSE(resized(view, sets)) << item.rule;
    EXPECT_FALSE(spread(view, sets, &sets.back()) && replicas_of(sets) != item.after) << item.rule;
  }
}

TEST(Rollout, ASaturatedNewSetEndsTheOldOnes) {
  const DeploymentView view = deployment(3, "1", "1");
  std::vector<SetPlan> sets = sets_of("1/1 3/3", 3, 4);
  EXPECT_TRUE(spread(view, sets, &sets.back()));
  EXPECT_EQ(replicas_of(sets), "0 3");
}

}  // namespace
}  // namespace krater::controllers
