#include "replay/replay.h"

#include <gtest/gtest.h>

namespace krater::replay {
namespace {

constexpr const char* kTwoQueues = R"(
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: 8, memory: 32Gi, pods: 110}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 1, deserved: {cpu: 2}, guarantee: {resource: {cpu: 1}}, capability: {cpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: production}
spec: {weight: 3, deserved: {cpu: 6}, guarantee: {resource: {cpu: 2}}, capability: {cpu: 8}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a1}
spec:
  queue: research
  minAvailable: 3
  tasks:
  - name: w
    replicas: 3
    template:
      metadata: {annotations: {krater.io/sim-run-time: 10m}}
      spec: {containers: [{name: main, resources: {requests: {cpu: 2}}}]}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: p1, annotations: {krater.io/sim-submit-at: 60s}}
spec:
  queue: production
  minAvailable: 2
  tasks:
  - name: w
    replicas: 2
    template:
      metadata: {annotations: {krater.io/sim-run-time: 5m}}
      spec: {containers: [{name: main, resources: {requests: {cpu: 2}}}]}
)";
constexpr const char* kReclaims = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}, {name: nodeorder}, {name: binpack}]
)";
constexpr const char* kKeeps = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
)";

Outcome outcome_of(const Workload& workload, const char* config, std::uint64_t seed = 1) {
  ReplayOptions options;
  options.config = config;
  options.seed = seed;
  Result<Outcome> out = replay(workload, options);
  EXPECT_TRUE(out.has_value()) << out.error().message;
  return *std::move(out);
}

double waited(const Outcome& outcome, const std::string& job) {
  const JobTale& tale = outcome.tally.jobs().at(job);
  EXPECT_TRUE(tale.started.has_value()) << job;
  return static_cast<double>((*tale.started - tale.submitted).count()) / 1e9;
}

TEST(Replay, ShowsWhatAnotherConfigurationChanges) {
  const Result<Workload> workload = read_yaml({kTwoQueues});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Outcome keeps = outcome_of(*workload, kKeeps), reclaims = outcome_of(*workload, kReclaims);
  // Without reclaim production waits until research has ended.
  EXPECT_NEAR(waited(keeps, "default/p1"), 540, 5);
  EXPECT_EQ(keeps.tally.jobs().at("default/a1").evictions, 0);
  // With it research goes whole, and starts again from the beginning.
  EXPECT_LT(waited(reclaims, "default/p1"), 10);
  EXPECT_EQ(reclaims.tally.jobs().at("default/a1").evictions, 3);
  EXPECT_TRUE(reclaims.tally.all_ended());
  const Json report = reclaims.tally.report(reclaims.lasted);
  EXPECT_NEAR(find(report, {"makespan"})->get_double(), 60 + 300 + 600, 15);
  EXPECT_EQ(int_at(report, {"evictions"}), 3);
  const std::string text = reclaims.tally.text(reclaims.lasted);
  for (const char* part : {"makespan", "production", "default/a1", "SHARE OF CPU OVER TIME"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Replay, TheSameSeedGivesTheSame) {
  const Result<Workload> workload = read_yaml({kTwoQueues});
  ASSERT_TRUE(workload.has_value());
  const Outcome one = outcome_of(*workload, kReclaims, 7),
                two = outcome_of(*workload, kReclaims, 7);
  EXPECT_EQ(to_json(one.tally.report(one.lasted)), to_json(two.tally.report(two.lasted)));
  EXPECT_EQ(one.decisions, two.decisions);
}

TEST(Replay, ATraceIsPlayedAndWhoNeverFitsIsToldAsWaiting) {
  const Result<Workload> workload = read_trace(
      "submit,run,job,queue,pods,min,cpu,priority\n"
      "0,60,first,q,4,4,2,\n"
      "5,30,second,q,2,,4,10\n"
      "6,30,never,q,1,,99,\n",
      {1, "8", "32Gi"});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Outcome out = outcome_of(*workload, kKeeps);
  EXPECT_LT(waited(out, "default/first"), 3);
  EXPECT_NEAR(waited(out, "default/second"), 56, 4);
  EXPECT_FALSE(out.tally.jobs().at("default/never").started.has_value());
  EXPECT_FALSE(out.tally.all_ended());
}

TEST(Replay, AlibabasBatchTasksAreRead) {
  const Result<Workload> workload = read_trace(
      "M1,2,j_1,1,Terminated,100,160,50,0.3\nR2_1,1,j_1,1,Terminated,160,170,100,0.3\n", {});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 2U);
  EXPECT_EQ(workload->submissions[0].name, "default/j-1-m1-1");
  EXPECT_EQ(workload->submissions[0].at, std::chrono::seconds(100));
  EXPECT_EQ(workload->submissions[0].pods.size(), 2U);
  EXPECT_EQ(workload->submissions[0].pods[0].run, Duration(std::chrono::seconds(60)));
}

TEST(Replay, WhatCannotBeReadIsNamed) {
  EXPECT_NE(read_trace("a,b\n1,2\n", {}).error().message.find("must name the columns"),
            std::string::npos);
  EXPECT_NE(read_trace("submit,run,cpu\nx,1,1\n", {})
                .error()
                .message.find("line 2: submit is not a number"),
            std::string::npos);
  const Result<Workload> ray =
      read_yaml({"apiVersion: example.com/v1\nkind: Toy\nmetadata: {name: r}\n"});
  ASSERT_TRUE(ray.has_value());
  EXPECT_EQ(ray->ignored.at("Toy"), 1);
  ReplayOptions options;
  options.config = "actions: \"dance\"\ntiers: [{plugins: [{name: gang}]}]\n";
  const Result<Outcome> refused = replay(Workload(), options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("unknown action \"dance\""), std::string::npos);
}

}  // namespace
}  // namespace krater::replay
