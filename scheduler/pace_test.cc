// How often the scheduler tells what changes all the time: enough to be true, not enough to drown
// what matters.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(20);

struct PaceTest : ::testing::Test {
  void add(const std::string& text) { h.add(yaml(text)); }
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

TEST(SchedulePeriod, CyclesBeginOnItsBeatAndSeeTogetherWhatCameMeanwhile) {
  Options options;
  options.schedule_period = std::chrono::seconds(1);
  Harness h(options);
  const auto add = [&](const std::string& text) { h.add(yaml(text)); };
  const auto cycles = [&] { return h.scheduler.metrics().cycles; };
  add("nodes: [{name: n, cpu: 2, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("classes: [{name: high, value: 9}]");
  h.settle();
  h.settle(std::chrono::milliseconds(200));  // between two beats
  const auto before = cycles();
  // Also what comes after a long time waits for the beat; and the more important goes first though
  // it came last.
  add("groups: [{name: low, min: 1}]\npods: [{name: low, group: low, cpu: 2}]");
  h.settle(std::chrono::milliseconds(500));
  EXPECT_EQ(cycles(), before);
  add("groups: [{name: top, min: 1, priorityClass: high}]\n"
      "pods: [{name: top, group: top, cpu: 1}]");
  h.settle(std::chrono::milliseconds(200));
  EXPECT_EQ(h.node_of("top"), "");
  h.settle(std::chrono::milliseconds(300));
  EXPECT_EQ(cycles(), before + 1);
  EXPECT_EQ(h.node_of("top"), "n");
  EXPECT_EQ(h.node_of("low"), "");
  // And the next thing for the next one.
  add("pods: [{name: last, cpu: 1}]");
  h.settle(std::chrono::milliseconds(300));
  EXPECT_EQ(h.node_of("last"), "");
  h.settle(std::chrono::seconds(1));
  EXPECT_EQ(h.node_of("last"), "n");
}

TEST_F(PaceTest, WithoutAPeriodCyclesFollowWhatHappens) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  h.settle();
  for (int i = 0; i < 5; ++i) {
    add("pods: [{name: p" + std::to_string(i) + ", cpu: 1}]");
    h.settle(kStep);
    EXPECT_EQ(h.node_of("p" + std::to_string(i)), "n");
  }
}

TEST_F(PaceTest, FiguresThatKeepChangingAreOneEvent) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default}]");
  add("pods: [{name: g-0, group: g, cpu: 200}]");
  h.settle();
  const auto event = [&] {
    const std::vector<ObjectPtr> all = h.events_about("g", "Unschedulable");
    EXPECT_EQ(all.size(), 1U);
    return *all.front()->document();
  };
  EXPECT_EQ(int_at(event(), {"count"}), 1);
  for (int i = 0; i < 60; ++i) {
    add("pods: [{name: other-" + std::to_string(i) + ", cpu: 1}]");
    h.settle(std::chrono::milliseconds(1100));
  }
  // After 1, 2, 4, 8, 16 and 30 seconds at the most.
  EXPECT_LE(*int_at(event(), {"count"}), 8);
  h.settle(std::chrono::minutes(3));
  EXPECT_NE(text_at(event(), {"message"}).find("taken 60, deserved 100"), std::string::npos)
      << event();
  const std::int64_t told = *int_at(event(), {"count"});
  const std::size_t written = h.client.writes.size();
  h.settle(std::chrono::minutes(2));
  EXPECT_EQ(int_at(event(), {"count"}), told) << "nothing changed";
  EXPECT_EQ(h.client.writes.size(), written);
  // Another reason is told at once, in the same event.
  add("queues: [{name: default, state: Closed}]");
  h.settle(std::chrono::milliseconds(1500));
  EXPECT_NE(text_at(event(), {"message"}).find("is Closed"), std::string::npos) << event();
}

TEST_F(PaceTest, WhyAPodWaitsIsOneEventKeptCurrent) {
  add("nodes: [{name: n, cpu: 1, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default}]");
  add("pods: [{name: g-0, group: g, cpu: 200}, {name: alone, cpu: 300}]");
  h.settle();
  for (int i = 2; i <= 60; ++i) {
    add("nodes: [{name: n-" + std::to_string(i) + ", cpu: 1, memory: 64Gi}]");
    h.settle(std::chrono::milliseconds(1100));
  }
  for (const std::string pod : {"g-0", "alone"}) {
    const std::vector<ObjectPtr> all = h.events_about(pod, "FailedScheduling");
    ASSERT_EQ(all.size(), 1U) << pod;
    // After 1, 2, 4, 8, 16 and 30 seconds at the most.
    EXPECT_LE(*int_at(*all.front()->document(), {"count"}), 8) << pod;
  }
  h.settle(std::chrono::minutes(1));
  for (const std::string pod : {"g-0", "alone"}) {
    const Json event = *h.events_about(pod, "FailedScheduling").front()->document();
    EXPECT_NE(text_at(event, {"message"}).find("deserved 60)"), std::string::npos) << event;
  }
  const std::size_t written = h.client.writes.size();
  h.settle(std::chrono::minutes(2));
  EXPECT_EQ(h.client.writes.size(), written) << "nothing changed";
  // Another reason is told at once, in the same event.
  add("queues: [{name: default, state: Closed}]");
  h.settle(std::chrono::milliseconds(1500));
  for (const std::string pod : {"g-0", "alone"})
    EXPECT_EQ(h.events_about(pod, "FailedScheduling").size(), 1U) << pod;
}

TEST_F(PaceTest, AQueuesFigureThatCouldNotBeWrittenIsWrittenThoughNothingElseHappens) {
  add("nodes: [{name: n, cpu: 4}]");
  add("queues: [{name: default}]");
  add("pods: [{name: a, cpu: 1}]");
  h.settle();
  const auto held = [&] {
    return QueueView(h.client.read(kinds::kQueue, "", "default")).allocated().at("cpu");
  };
  EXPECT_EQ(held(), 1000);
  h.client.fail = [](const client::Write& write) -> std::optional<Error> {
    if (client::key_of(write).resource != kinds::kQueue.resource()) return std::nullopt;
    return make_error(Code::Unavailable, "not now");
  };
  h.remove(yaml("pods: [a]"));
  h.settle();
  EXPECT_EQ(held(), 1000);
  h.client.fail = {};
  h.settle();
  EXPECT_EQ(held(), 0);
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

TEST_F(PaceTest, ThatAGangRunsIsToldWithHowManyOfItRun) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default, phase: Inqueue}]");
  h.settle();
  const std::int64_t before = group_writes();
  add_pod(0);
  h.settle(std::chrono::milliseconds(900));
  ASSERT_EQ(h.node_of("p-t-0"), "n");
  EXPECT_EQ(h.group("g").phase(), PodGroupPhase::Inqueue);
  run_pod(0);
  h.settle(kStep);
  EXPECT_EQ(h.group("g").phase(), PodGroupPhase::Running);
  EXPECT_EQ(h.group("g").status().running, 1);
  h.settle();
  EXPECT_EQ(group_writes() - before, 1);
}

TEST_F(PaceTest, AGangWhoseNodesTakeTheirTimeIsToldToRunAllTheSame) {
  add("nodes: [{name: n, cpu: 100, memory: 64Gi}]");
  add("queues: [{name: default}]");
  add("groups: [{name: g, min: 1, queue: default}]");
  add_pod(0);
  h.settle(std::chrono::milliseconds(1100));
  EXPECT_EQ(h.group("g").phase(), PodGroupPhase::Running);
  EXPECT_EQ(h.group("g").status().running, 0);
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
