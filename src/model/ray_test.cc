#include <gtest/gtest.h>

#include "model/raycluster.h"
#include "model/rayjob.h"

namespace krater {
namespace {

Json parsed(std::string_view text) {
  return *parse_json(text);
}

TEST(RayGroupSpec, ReplicasAreClampedAndDefaultToTheMinimum) {
  const auto pods = [](std::string_view text) {
    const Json json = parsed(text);
    return RayGroupSpec(json, RayGroupSpec::Role::Worker).desired_pods();
  };
  EXPECT_EQ(pods(R"({"minReplicas":2})"), 2);
  EXPECT_EQ(pods(R"({"replicas":1,"minReplicas":2,"maxReplicas":3})"), 2);
  EXPECT_EQ(pods(R"({"replicas":9,"minReplicas":2,"maxReplicas":3})"), 3);
  EXPECT_EQ(pods(R"({"replicas":2,"numOfHosts":4})"), 8);
  EXPECT_EQ(pods(R"({"replicas":2,"suspend":true})"), 0);
}

TEST(RayClusterStatus, KeepsWhatItDoesNotOwnAndReadsItsOwnTextBack) {
  const Json stored = parsed(R"({"state":"ready","future":{"a":1},"readyWorkerReplicas":2,
      "conditions":[{"type":"HeadPodReady","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  RayClusterStatus status = RayClusterStatus::from(stored);
  EXPECT_TRUE(status.is_true("HeadPodReady"));
  status.set("HeadPodReady", true, "Other", "m", WallTime::from_unix_seconds(1'800'000'000));
  status.state = "suspended";
  const Json written = status.to_json_value(stored);
  EXPECT_EQ(int_at(written, {"future", "a"}), 1);
  const RayClusterStatus again = RayClusterStatus::from(written);
  EXPECT_TRUE(again.same_news(status));
  // The value did not change, so neither does the time.
  EXPECT_EQ(to_rfc3339(*again.condition("HeadPodReady")->last_transition), "2026-01-01T00:00:00Z");
}

TEST(RayClusterStatus, EveryConditionHasReasonAndMessageAsTheSchemaWants) {
  RayClusterStatus status;
  status.set("RayClusterSuspended", false, "RayClusterSuspended", "",
             WallTime::from_unix_seconds(1'767'225'600));
  EXPECT_EQ(
      to_json(*find(status.to_json_value(parsed("{}")), {"conditions"})),
      R"([{"type":"RayClusterSuspended","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z",)"
      R"("reason":"RayClusterSuspended","message":""}])");
}

TEST(RayJobStatus, ResetFieldsDisappear) {
  const Json stored = parsed(
      R"({"jobDeploymentStatus":"Retrying","jobId":"j","rayJobInfo":{"startTime":"2026-01-01T00:00:00Z"},"x":1})");
  RayJobStatus status = RayJobStatus::from(stored);
  EXPECT_EQ(status.phase, JobPhase::Retrying);
  status.phase = JobPhase::New;
  status.job_id.clear();
  status.ray_start.reset();
  EXPECT_EQ(to_json(status.to_json_value(stored)),
            R"({"x":1,"succeeded":0,"failed":0,"rayClusterStatus":{}})");
}

TEST(JobPhase, EveryPhaseReadsItsOwnText) {
  for (int i = 0; i <= static_cast<int>(JobPhase::Retrying); ++i) {
    const auto phase = static_cast<JobPhase>(i);
    EXPECT_EQ(job_phase(to_text(phase)), phase);
  }
}

}  // namespace
}  // namespace krater
