#include "replay/replay.h"

#include <gtest/gtest.h>

#include "replay/csv.h"

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

TEST(Replay, FieldsInQuotesAreRead) {
  const Result<std::vector<CsvRow>> rows = read_csv(
      "submit,\"job\" , cpu\r\n# not this\n\n0,\"a, \"\"b\"\"\nc\",  2 \r\n1,,\"\"\n2,\"last\",3");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].fields, (std::vector<std::string>{"submit", "job", "cpu"}));
  EXPECT_EQ((*rows)[1].fields, (std::vector<std::string>{"0", "a, \"b\"\nc", "2"}));
  EXPECT_EQ((*rows)[1].line, 4U);
  EXPECT_EQ((*rows)[2].fields, (std::vector<std::string>{"1", "", ""}));
  EXPECT_EQ((*rows)[2].line, 6U);
  EXPECT_EQ((*rows)[3].fields, (std::vector<std::string>{"2", "last", "3"}));
  EXPECT_EQ(read_csv("a,b\n1,\"x\n\n").error().message, "line 2: a quoted field does not end");
  EXPECT_EQ(read_csv("a,\"b\"c\n").error().message, "line 1: something follows a quoted field");
  const Result<Workload> workload =
      read_trace("\"submit\",run,\"queue\",cpu\n0,60,\"team, a\",1\n", {});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  EXPECT_EQ(workload->submissions.at(0).queue, "team, a");
}

// Alice has filled the node for an hour when Bob comes; both want more than there is.
TEST(Replay, PastUsageIsSeenInWhoWaits) {
  const auto job = [](const std::string& name, const std::string& user, const std::string& at) {
    return "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
           ", namespace: " + user + ", annotations: {krater.io/sim-submit-at: " + at +
           "}}\nspec:\n  tasks:\n  - name: w\n    replicas: 1\n    template:\n      metadata: "
           "{annotations: {krater.io/sim-run-time: 10m}}\n      spec: {containers: [{name: main, "
           "resources: {requests: {cpu: 8}}}]}\n";
  };
  std::string text =
      "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 8, memory: "
      "32Gi, pods: 110}}\n";
  for (int i = 0; i < 6; ++i) text += job("a" + std::to_string(i), "alice", "0s");
  text += job("b", "bob", "5m");
  const Result<Workload> workload = read_yaml({text});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const std::string plain = "actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: gang}, ";
  const std::string rest = "{name: predicates}, {name: nodeorder}]}]\n";
  const Outcome before = outcome_of(*workload, (plain + rest).c_str());
  const Outcome after = outcome_of(
      *workload,
      (plain + "{name: fairshare, arguments: {fairshare.resourceKey: cpu}}, " + rest).c_str());
  EXPECT_GT(waited(before, "bob/b"), 3000);
  EXPECT_LT(waited(after, "bob/b"), 400);
  const std::string report = after.tally.text(after.lasted);
  EXPECT_NE(report.find("USER "), std::string::npos) << report;
  const Json json = after.tally.report(after.lasted);
  const JsonArray& users = *array_at(json, {"users"});
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(text_at(users[1], {"user"}), "bob");
  EXPECT_NEAR(find(users[1], {"cpuSeconds"})->get_double(), 8 * 600, 50);
}

TEST(Replay, WhatCannotBeReadIsNamed) {
  EXPECT_NE(read_trace("a,b\n1,2\n", {}).error().message.find("must name the columns"),
            std::string::npos);
  EXPECT_NE(read_trace("submit,run,cpu\nx,1,1\n", {})
                .error()
                .message.find("line 2: submit is not a number"),
            std::string::npos);
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"kind: Node\napiVersion: v1\nmetadata: {name: n}\n---\nmetadata: {name: x}\n",
            "file 1, document 2: kind is missing"},
           {"# a word\n---\nkind: Pod\nmetadata: {name: x}\n",
            "file 1, document 1: apiVersion is missing (of kind \"Pod\")"},
           {"kind: List\napiVersion: v1\nitems: [{apiVersion: v1, kind: Pod}]\n",
            "file 1, document 1, item 1: an object of kind \"Pod\" has no name"},
           {"- a\n- b\n", "file 1, document 1: it is not an object"},
           {"a: [\n", "file 1, document 1: "}}) {
    const Result<Workload> refused = read_yaml({text});
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_EQ(refused.error().code, Code::BadRequest);
    EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  }
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
