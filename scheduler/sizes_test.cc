// A job of more tasks than there will ever be room for. KRATER_SCHEDULER_TASKS: how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

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

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What it takes to place a hundred pods that are to be spread over this label.
double cost_of_spreading(const char* label) {
  Harness cluster;
  cluster.add(*parse_json(
      R"({"config":"actions: allocate\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n","queues":[{"name":"default"}]})"));
  JsonArray nodes;
  for (int i = 0; i < 2000; ++i) {
    nodes.push_back(JsonObject{{"name", "n" + std::to_string(i)},
                               {"cpu", 8},
                               {"labels", JsonObject{{"host", "n" + std::to_string(i)},
                                                     {"zone", std::to_string(i % 4)}}}});
  }
  cluster.add(JsonObject{{"nodes", std::move(nodes)}});
  cluster.settle();
  Json pods = *parse_json(
      R"({"groups":[{"name":"s","min":100}],"pods":[{"name":"s","group":"s","count":100,"cpu":1,"labels":{"app":"s"},
    "spec":{"topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"s"}}}]}}]})");
  Json& rule = find(pods, {"pods"})->get_array()[0].get_object()["spec"];
  find(rule, {"topologySpreadConstraints"})->get_array()[0].get_object()["topologyKey"] = label;
  cluster.add(pods);
  const double before = processor_seconds();
  cluster.settle();
  EXPECT_EQ(placed(cluster, "s"), 100);
  return processor_seconds() - before;
}

TEST(Sizes, ToSpreadOverManyDomainsIsNoMoreWorkThanOverFew) {
  const double few = cost_of_spreading("zone"), many = cost_of_spreading("host");
  EXPECT_LT(many, 3 * few) << few;
}

}  // namespace
}  // namespace krater::scheduler
