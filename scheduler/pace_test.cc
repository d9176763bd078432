// How often the scheduler tells what changes all the time: enough to be true, not enough to drown
// what matters.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/yaml.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(20);

struct PaceTest : ::testing::Test {
  void add(const std::string& text) { h.add(*parse_yaml(text)); }
  void add_pod(int number) {
    add("pods: [{name: p-t-" + std::to_string(number) + ", group: g, cpu: 1}]");
  }
  void run_pod(int number) { h.run(Json{{"p-t-" + std::to_string(number), "Running"}}); }
  std::int64_t group_writes() const {
    return std::ranges::count_if(h.client.writes, [](const client::Write& write) {
      return client::key_of(write).resource == kinds::kPodGroup.resource();
    });
  }
  Harness h;
};

TEST_F(PaceTest, HowManyRunIsToldNowAndThenAndInTheEnd) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default}]");
  for (int i = 0; i < 40; ++i) add_pod(i);
  h.settle();
  run_pod(0);
  h.settle();
  ASSERT_EQ(h.group("g").phase(), PodGroupPhase::Running);
  const std::int64_t before = group_writes();
  for (int i = 1; i < 40; ++i) {
    run_pod(i);
    h.settle(kStep);
  }
  // 780 ms: one at once, one each 200 ms.
  EXPECT_GE(group_writes() - before, 2);
  EXPECT_LE(group_writes() - before, 5);
  h.settle();
  EXPECT_EQ(h.group("g").status().running, 40);
}

TEST_F(PaceTest, APhaseIsToldAtOnce) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default}]");
  add_pod(0);
  h.settle();
  run_pod(0);
  h.settle(kStep);
  ASSERT_EQ(h.group("g").status().running, 1);
  h.run(Json{{"p-t-0", "Succeeded"}});
  h.settle(kStep);
  EXPECT_EQ(h.group("g").phase(), PodGroupPhase::Completed);
}

TEST_F(PaceTest, AsLongAsMembersComeNobodyHearsHowManyAreMissing) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 90, queue: default}]");
  for (int i = 0; i < 40; ++i) {
    add_pod(i);
    h.settle(std::chrono::milliseconds(100));
    ASSERT_EQ(h.pod_message("p-t-0"), "") << i;
  }
  h.settle();
  EXPECT_NE(h.pod_message("p-t-0"), "") << "nothing came for a moment";
}

TEST_F(PaceTest, WhoGathersForLongIsToldAllTheSame) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 900, queue: default}]");
  for (int i = 0; i < 120; ++i) {
    add_pod(i);
    h.settle(std::chrono::milliseconds(100));
  }
  EXPECT_NE(h.pod_message("p-t-0"), "");
}

}  // namespace
}  // namespace krater::scheduler
