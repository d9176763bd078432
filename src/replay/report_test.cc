// What the report says of time: what counts as waiting, and when everything began and ended.
#include <gtest/gtest.h>

#include "replay/formats.h"
#include "replay/replay.h"

namespace krater::replay {
namespace {

constexpr const char* kConfig = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
)";

Outcome play(const Workload& workload, const char* config, ReplayOptions options = {}) {
  options.config = config;
  Result<Outcome> out = replay(workload, options);
  EXPECT_TRUE(out.has_value()) << out.error().message;
  return *std::move(out);
}

Json report_of(const std::string& csv, ReplayOptions options = {}) {
  const Result<Workload> workload = read_trace(csv, {1, "8", "32Gi"});
  EXPECT_TRUE(workload.has_value()) << workload.error().message;
  const Outcome out = play(*workload, kConfig, options);
  return out.tally.report(out.lasted);
}

double number(const Json& report, JsonPath path) {
  const Json* value = find(report, path);
  EXPECT_NE(value, nullptr);
  return value == nullptr ? -1 : value->to_number<double>();
}

const Json* job_of(const Json& report, std::string_view name) {
  for (const Json& job : *array_at(report, {"jobs"})) {
    if (text_at(job, {"job"}) == name) return &job;
  }
  return nullptr;
}

// The ten minutes after the last end, in which it is looked whether something still happens, are
// nobody's time but of who waits.
TEST(Report, EndsWithTheLastJobAlthoughSomebodyWaitsForEver) {
  const Json report = report_of("submit,run,job,cpu\n0,100,fits,8\n0,10,never,99\n");
  EXPECT_NEAR(number(report, {"makespan"}), 101, 3);
  EXPECT_GT(number(report, {"utilisationPerMille"}), 950);
  const Json* never = job_of(report, "default/never");
  ASSERT_NE(never, nullptr);
  EXPECT_EQ(text_at(*never, {"state"}), "waiting");
  EXPECT_GT(number(*never, {"waited"}), 600);
  for (const Json& share : *array_at(array_at(report, {"queues"})->at(0), {"sharePerMille"}))
    EXPECT_GT(share.to_number<double>(), 900);
}

TEST(Report, BeginsWithTheFirstSubmission) {
  const Json report = report_of("submit,run,job,cpu\n10000,100,late,8\n");
  EXPECT_NEAR(number(report, {"makespan"}), 101, 3);
  EXPECT_GT(number(report, {"utilisationPerMille"}), 950);
}

// The job of research goes for that of production, and starts anew five minutes later.
TEST(Report, WaitingAgainAfterAnEvictionIsWaiting) {
  const auto queue = [](const std::string& name, const std::string& deserved) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
           "}\nspec: {weight: 1, deserved: {cpu: " + deserved + "}, capability: {cpu: 8}}\n---\n";
  };
  const auto job = [](const std::string& name, const std::string& of, const std::string& at,
                      const std::string& pods, const std::string& run) {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
           ", annotations: {krater.io/sim-submit-at: " + at + "}}\nspec: {queue: " + of +
           ", minAvailable: " + pods + ", tasks: [{name: w, replicas: " + pods +
           ", template: {metadata: {annotations: {krater.io/sim-run-time: " + run +
           "}}, spec: {containers: [{name: m, resources: {requests: {cpu: 2}}}]}}}]}\n---\n";
  };
  const Result<Workload> workload = read_yaml(
      {"apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 8, "
       "memory: 32Gi, pods: 110}}\n---\n" +
       queue("research", "2") + queue("production", "6") + job("a1", "research", "0s", "3", "10m") +
       job("p1", "production", "60s", "2", "5m")});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Outcome out = play(*workload, R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}, {name: nodeorder}, {name: binpack}]
)");
  const Json report = out.tally.report(out.lasted);
  const Json* evicted = job_of(report, "default/a1");
  ASSERT_NE(evicted, nullptr);
  EXPECT_EQ(int_at(*evicted, {"evictions"}), 3) << out.tally.text(out.lasted);
  EXPECT_NEAR(number(*evicted, {"waitedAgain"}), 300, 8);
  EXPECT_NEAR(number(*evicted, {"waited"}), 301, 8);
  EXPECT_EQ(text_at(*evicted, {"state"}), "ended");
  EXPECT_NE(out.tally.text(out.lasted).find("AGAIN"), std::string::npos);
}

TEST(Report, WhoHasNotComeIsCounted) {
  ReplayOptions options;
  options.until = 60s;
  const Json report = report_of("submit,run,job,cpu\n0,10,a,1\n100,10,b,1\n200,10,c,1\n", options);
  EXPECT_EQ(int_at(report, {"notSubmitted"}), 2);
  EXPECT_EQ(array_at(report, {"jobs"})->size(), 1U);
}

// Names of any length: a line is a line.
TEST(Report, LongNamesDoNotCutLines) {
  const std::string name(240, 'n');
  const Result<Workload> workload =
      read_trace("submit,run,job\n0,5," + name + "\n", {1, "8", "32Gi"});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Outcome out = play(*workload, kConfig);
  const std::string text = out.tally.text(out.lasted);
  EXPECT_NE(text.find(name + " "), std::string::npos);
  EXPECT_TRUE(text.ends_with("ended\n")) << text;
}

// A log of decisions, played again, gives the jobs as they were.
TEST(Report, TheDecisionsOfASimulationAreAWorkload) {
  const Result<Workload> workload =
      read_trace("submit,run,job,queue,pods,cpu\n0,60,a,q,2,4\n5,30,b,q,1,2\n", {1, "8", "32Gi"});
  ASSERT_TRUE(workload.has_value());
  const Outcome first = play(*workload, kConfig);
  std::string log;
  for (const std::string& line : first.decisions) log += line + "\n";
  const Result<Workload> again = read_files({{"log", log}}, Format::Auto, {1, "8", "32Gi"});
  ASSERT_TRUE(again.has_value()) << again.error().message << log;
  ASSERT_EQ(again->submissions.size(), 2U) << log;
  const Outcome second = play(*again, kConfig);
  ASSERT_TRUE(second.tally.all_ended()) << log;
  for (const auto& [name, job] : first.tally.jobs()) {
    const JobTale& other = second.tally.jobs().at(name);
    EXPECT_EQ(other.pods, job.pods);
    EXPECT_EQ(other.queue, job.queue);
    EXPECT_NEAR(static_cast<double>((*other.ended - *other.started).count()),
                static_cast<double>((*job.ended - *job.started).count()), 3e9);
  }
}

}  // namespace
}  // namespace krater::replay
