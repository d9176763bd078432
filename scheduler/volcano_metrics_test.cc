// What is told under Volcano's names after a story: queues' books under each plugin that keeps
// some, gangs, evictions; and that nothing is told of what is gone.
#include "scheduler/volcano_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

constexpr std::string_view kFlat = R"(
config: |
  actions: "enqueue, allocate, reclaim"
  tiers:
  - plugins: [{name: priority}, {name: gang}, {name: conformance}]
  - plugins: [{name: drf}, {name: predicates}, {name: capacity}, {name: nodeorder}]
nodes: [{name: n, cpu: 8, memory: 16Gi}]
queues:
- {name: default}
- {name: q, deserved: {cpu: 2}, capability: {cpu: 5}, guarantee: {cpu: 1}}
)";

struct VolcanoMetricsTest : ::testing::Test {
  void add(std::string_view text) {
    h.add(yaml(text));
    h.settle();
  }
  VolcanoFigures figures() const { return h.scheduler.volcano_figures(); }
  static const QueueFigures& queue(const VolcanoFigures& in, std::string_view name) {
    const auto found =
        std::ranges::find_if(in.queues, [&](const auto& q) { return q.name == name; });
    EXPECT_NE(found, in.queues.end()) << name;
    return found->amounts;
  }
  static const VolcanoFigures::Job& job(const VolcanoFigures& in, std::string_view name) {
    const auto found =
        std::ranges::find_if(in.jobs, [&](const auto& one) { return one.key.name == name; });
    EXPECT_NE(found, in.jobs.end()) << name;
    return *found;
  }
  static bool has_queue(const VolcanoFigures& in, std::string_view name) {
    return std::ranges::any_of(in.queues, [&](const auto& one) { return one.name == name; });
  }
  Harness h;
};

TEST_F(VolcanoMetricsTest, FlatQueuesTellTheirBooks) {
  add(kFlat);
  add(R"(
groups: [{name: a, min: 3, queue: q}, {name: b, min: 1, queue: q, minResources: {cpu: 2}}]
pods: [{name: a, count: 3, group: a, cpu: 1, memory: 1Gi}]
)");
  const VolcanoFigures now = figures();
  const QueueFigures& q = queue(now, "q");
  EXPECT_EQ(q.allocated.at(kCpu), 3000);
  EXPECT_EQ(q.allocated.at(kMemory), 3 * kGi);
  EXPECT_EQ(q.request.at(kCpu), 3000);
  EXPECT_EQ(q.inqueue.at(kCpu), 2000);  // b, whose pods are not there
  EXPECT_EQ(q.deserved.at(kCpu), 2000);
  ASSERT_TRUE(q.capability && q.real_capability);
  EXPECT_EQ(q.capability->at(kCpu), 5000);
  EXPECT_FALSE(q.capability->has(kMemory));
  EXPECT_EQ(q.real_capability->at(kCpu), 5000);
  EXPECT_EQ(q.real_capability->at(kMemory), 16 * kGi);
  EXPECT_DOUBLE_EQ(q.share.value(), 1.5);
  EXPECT_TRUE(q.overused);
  EXPECT_FALSE(q.weight);
  const QueueFigures& other = queue(now, "default");
  EXPECT_EQ(other.allocated.at(kCpu), 0);
  EXPECT_FALSE(other.capability);
  EXPECT_EQ(other.real_capability->at(kCpu), 7000);  // all but what q is guaranteed
  EXPECT_DOUBLE_EQ(other.share.value(), 1);          // deserves nothing in particular
  EXPECT_FALSE(other.overused);
}

TEST_F(VolcanoMetricsTest, InATreeParentsTellWhatIsBelowThemAndLimitsAreInherited) {
  add(R"(
config: |
  actions: "enqueue, allocate"
  tiers:
  - plugins: [{name: gang}, {name: predicates}, {name: capacity, enableHierarchy: true}]
nodes: [{name: n, cpu: 8, memory: 16Gi}]
queues:
- {name: root}
- {name: default}
- {name: top, parent: root, capability: {cpu: 6}, deserved: {cpu: 4}}
- {name: leaf, parent: top, capability: {memory: 4Gi}, deserved: {cpu: 4}}
groups: [{name: a, min: 2, queue: leaf}]
pods: [{name: a, count: 2, group: a, cpu: 1, memory: 1Gi}]
)");
  const VolcanoFigures now = figures();
  EXPECT_EQ(queue(now, "root").allocated.at(kCpu), 2000);
  EXPECT_EQ(queue(now, "top").allocated.at(kCpu), 2000);
  EXPECT_DOUBLE_EQ(queue(now, "top").share.value(), 0.5);
  const QueueFigures& leaf = queue(now, "leaf");
  ASSERT_TRUE(leaf.capability && leaf.real_capability);
  EXPECT_EQ(leaf.capability->at(kCpu), 6000);
  EXPECT_EQ(leaf.capability->at(kMemory), 4 * kGi);
  EXPECT_EQ(leaf.real_capability->at(kCpu), 6000);
}

TEST_F(VolcanoMetricsTest, ProportionTellsWeightsAndWhoHasAllItDeserves) {
  add(R"(
config: |
  actions: "enqueue, allocate"
  tiers:
  - plugins: [{name: gang}, {name: predicates}, {name: proportion}]
nodes: [{name: n, cpu: 8, memory: 16Gi}]
queues: [{name: default}, {name: a, weight: 1}, {name: b, weight: 3}]
groups: [{name: a, min: 2, queue: a}, {name: b, min: 1, queue: b}]
pods: [{name: a, count: 2, group: a, cpu: 1, memory: 2Gi}, {name: b, count: 8, group: b, cpu: 1, memory: 1Gi}]
)");
  const VolcanoFigures now = figures();
  const QueueFigures &a = queue(now, "a"), &b = queue(now, "b");
  EXPECT_EQ(a.weight, 1);
  EXPECT_EQ(b.weight, 3);
  EXPECT_EQ(a.deserved.at(kCpu), 2000);
  EXPECT_EQ(b.deserved.at(kCpu), 6000);
  EXPECT_EQ(b.allocated.at(kCpu), 6000);
  EXPECT_EQ(b.request.at(kCpu), 8000);
  EXPECT_TRUE(a.overused);
  EXPECT_DOUBLE_EQ(a.share.value(), 1);
  EXPECT_FALSE(a.capability || a.real_capability);
  EXPECT_FALSE(queue(now, "default").overused);
}

TEST_F(VolcanoMetricsTest, GangsTellWhatTheyLackAndForget) {
  add(kFlat);
  add(R"(
groups: [{name: runs, min: 2}, {name: waits, min: 12}]
pods: [{name: runs, count: 2, group: runs, cpu: 1, memory: 1Gi}, {name: waits, count: 12, group: waits, cpu: 1, memory: 1Gi}]
)");
  VolcanoFigures now = figures();
  EXPECT_EQ(job(now, "runs").missing, 0);
  EXPECT_EQ(job(now, "runs").retries, 0u);
  EXPECT_EQ(job(now, "runs").queue, "default");
  ASSERT_TRUE(job(now, "runs").placed && job(now, "runs").share);
  EXPECT_GE(*job(now, "runs").placed, job(now, "runs").created);
  EXPECT_DOUBLE_EQ(job(now, "runs").share->value(), 0.25);
  EXPECT_EQ(job(now, "waits").missing, 7);  // five would have a place, but for the rest of them
  EXPECT_GE(job(now, "waits").retries, 1u);
  EXPECT_FALSE(job(now, "waits").placed);
  EXPECT_EQ(now.unscheduled_jobs, 1u);
  EXPECT_EQ(now.job_latency.count(), 1u);
  for (const char* stage : {"Watched", "Assumed", "PreBound", "Bound"})
    EXPECT_EQ(now.pod_stages.at(stage).count(), stage == std::string("Watched") ? 14u : 2u);
  EXPECT_EQ(now.work_stages.at("Bind").count(), 2u);

  h.remove(
      yaml("pods: [waits-0, waits-1, waits-2, waits-3, waits-4, waits-5, waits-6, waits-7, "
           "waits-8, waits-9, waits-10, waits-11]\ngroups: [waits]\nqueues: [q]"));
  h.settle();
  now = figures();
  EXPECT_EQ(now.unscheduled_jobs, 0u);
  EXPECT_EQ(now.jobs.size(), 1u);
  EXPECT_FALSE(has_queue(now, "q"));
  // Who comes again under the name begins anew.
  add("groups: [{name: waits, min: 1}]");
  EXPECT_EQ(job(figures(), "waits").retries, 0u);
}

TEST_F(VolcanoMetricsTest, AQueueThatHasJustGoneIsNotToldOf) {
  add(kFlat);
  ASSERT_TRUE(has_queue(figures(), "q"));
  h.remove(yaml("queues: [q]"));
  h.settle(std::chrono::milliseconds(0));
  EXPECT_FALSE(has_queue(figures(), "q"));
}

TEST_F(VolcanoMetricsTest, EvictionsAreCountedOnceTheyAreWritten) {
  add(R"(
config: |
  actions: "enqueue, allocate, preempt, backfill"
  tiers:
  - plugins: [{name: priority}, {name: gang, enablePreemptable: false, enableJobStarving: false}, {name: conformance}]
  - plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
classes: [{name: high, value: 100}, {name: low, value: 10}]
nodes: [{name: n, cpu: 4}]
queues: [{name: default}]
groups: [{name: low, min: 1, priorityClass: low, phase: Running}]
pods: [{name: low-w, count: 4, group: low, cpu: 1, node: n, phase: Running}]
)");
  EXPECT_TRUE(figures().eviction_transactions.empty());
  EXPECT_EQ(figures().preemption_attempts, 0u);
  add("groups: [{name: high, min: 2, priorityClass: high}]\n"
      "pods: [{name: high-w, count: 2, group: high, cpu: 1}]");
  const VolcanoFigures now = figures();
  EXPECT_EQ(now.eviction_transactions, (decltype(now.eviction_transactions){{"preempt", 1}}));
  EXPECT_EQ(now.preemption_victims, 2u);
  EXPECT_EQ(now.preemption_attempts, 2u);
}

TEST_F(VolcanoMetricsTest, PartsOfASessionAreTimedByTheirNames) {
  add(kFlat);
  const VolcanoFigures now = figures();
  EXPECT_EQ(now.cycle.count(), h.scheduler.metrics().cycles);
  EXPECT_EQ(now.open_session.count(), now.cycle.count());
  for (const char* action : {"enqueue", "allocate", "reclaim"})
    EXPECT_EQ(now.actions.at(action).count(), now.cycle.count()) << action;
  for (const char* plugin : {"priority", "gang", "drf", "capacity"}) {
    EXPECT_EQ(now.plugins.at({plugin, "OnSessionOpen"}).count(), now.cycle.count()) << plugin;
    EXPECT_EQ(now.plugins.at({plugin, "OnSessionClose"}).count(), now.cycle.count()) << plugin;
  }
}

TEST_F(VolcanoMetricsTest, WhatNoPluginCountsIsNotTold) {
  add(R"(
config: |
  actions: "allocate"
  tiers:
  - plugins: [{name: predicates}]
nodes: [{name: n, cpu: 8}]
queues: [{name: default}]
groups: [{name: a, min: 1}]
pods: [{name: a, group: a, cpu: 1}]
)");
  const VolcanoFigures now = figures();
  EXPECT_TRUE(now.queues.empty());
  EXPECT_FALSE(now.unscheduled_jobs);
  EXPECT_FALSE(job(now, "a").share || job(now, "a").missing);
}

}  // namespace
}  // namespace krater::scheduler
