// A job of more tasks than there will ever be room for. KRATER_SCHEDULER_TASKS: how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

std::int64_t tasks() {
  const char* given = std::getenv("KRATER_SCHEDULER_TASKS");
  return given == nullptr ? 100'000 : parse_int(given).value_or(100'000);
}

std::int64_t placed(const Harness& cluster, std::string_view prefix) {
  const std::vector<ObjectPtr> pods = cluster.client.all(kinds::kPod);
  return std::ranges::count_if(pods, [&](const ObjectPtr& pod) {
    return pod->name().starts_with(prefix) && !PodView(pod).node_name().empty();
  });
}

TEST(Sizes, AJobOfAHundredThousandTasksHoldsNobodyUp) {
  Harness cluster;
  cluster.add(*parse_json(
      R"({"config":"actions: \"enqueue, allocate, preempt, reclaim, backfill\"\ntiers:\n- plugins: [{name: priority}, {name: gang}, {name: conformance}]\n- plugins: [{name: capacity}, {name: predicates}, {name: nodeorder}, {name: binpack}]\n",
    "nodes":[{"name":"n","cpu":8},{"name":"m","cpu":8}],
    "queues":[{"name":"default","deserved":{"cpu":"8"}},{"name":"other","deserved":{"cpu":"8"}}],
    "groups":[{"name":"huge","min":1},{"name":"whole","min":2147483647},{"name":"small","min":2,"queue":"other"}]})"));
  cluster.settle();
  Json pods = *parse_json(R"({"pods":[{"name":"huge","group":"huge","cpu":1},
    {"name":"small","count":2,"group":"small","cpu":1},{"name":"whole","count":3,"group":"whole","cpu":1}]})");
  find(pods, {"pods"})->get_array()[0].get_object()["count"] = tasks();
  cluster.add(pods);
  cluster.settle();
  EXPECT_EQ(placed(cluster, "small"), 2);
  EXPECT_EQ(placed(cluster, "huge"), 14);
  EXPECT_EQ(placed(cluster, "whole"), 0);

  // All of it vanishes, its group first, and what comes then is placed at once.
  cluster.remove(*parse_json(R"({"groups":["huge"]})"));
  JsonArray names;
  for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
    if (pod->name().starts_with("huge")) names.push_back(Json(pod->name()));
  }
  EXPECT_EQ(std::ssize(names), tasks());
  cluster.remove(JsonObject{{"pods", std::move(names)}});
  cluster.settle();
  cluster.add(*parse_json(R"({"pods":[{"name":"later","count":14,"cpu":1}]})"));
  cluster.settle();
  EXPECT_EQ(placed(cluster, "later"), 14);
}

}  // namespace
}  // namespace krater::scheduler
