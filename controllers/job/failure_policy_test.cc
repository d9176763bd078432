#include "controllers/job/failure_policy.h"

#include <gtest/gtest.h>

namespace krater::controllers {
namespace {

ObjectPtr object(const Kind& kind, const std::string& json) {
  auto out = Object::parse(ObjectKey::of(kind, "d", "x"), Revision(1),
                           std::make_shared<const std::string>(json));
  return *out;
}

JobView job(const std::string& rules) {
  return JobView(
      object(kinds::kJob,
             R"({"metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":)" + rules + "}}}"));
}

PodView pod(int exit_code, const std::string& container = "main",
            const std::string& condition = "") {
  return PodView(
      object(kinds::kPod, R"({"metadata":{"name":"x"},"status":{"phase":"Failed","conditions":[)" +
                              condition + R"(],"containerStatuses":[{"name":")" + container +
                              R"(","state":{"terminated":{"exitCode":)" +
                              std::to_string(exit_code) + "}}}]}}"));
}

TEST(FailurePolicy, TheFirstMatchingRuleDecides) {
  const JobView in = job(R"([{"action":"Ignore","onExitCodes":{"operator":"In","values":[3]}},
                             {"action":"FailJob","onExitCodes":{"containerName":"main","operator":"NotIn","values":[1,2]}}])");
  EXPECT_EQ(judge_failure(in, pod(3)).action, FailureAction::Ignore);
  EXPECT_EQ(judge_failure(in, pod(1)).action, FailureAction::Count);
  EXPECT_EQ(judge_failure(in, pod(9, "side")).action, FailureAction::Count);
  const FailureVerdict fail = judge_failure(in, pod(9));
  EXPECT_EQ(fail.action, FailureAction::FailJob);
  EXPECT_EQ(fail.message,
            "Container main for pod d/x failed with exit code 9 matching FailJob rule at index 1");
}

TEST(FailurePolicy, ExitCodeZeroNeverMatches) {
  const JobView not_in =
      job(R"([{"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[1]}}])");
  EXPECT_EQ(judge_failure(not_in, pod(0)).action, FailureAction::Count);
}

TEST(FailurePolicy, WhoWasEvictedForOthersHasNotFailedUnlessARuleSaysSo) {
  const std::string evicted =
      R"({"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"})";
  const std::string drained =
      R"({"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI"})";
  EXPECT_EQ(judge_failure(job("[]"), pod(143, "main", evicted)).action, FailureAction::Ignore);
  EXPECT_EQ(judge_failure(job("[]"), pod(143, "main", drained)).action, FailureAction::Count);
  const JobView strict = job(
      R"([{"action":"FailJob","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}])");
  EXPECT_EQ(judge_failure(strict, pod(143, "main", evicted)).action, FailureAction::FailJob);
}

TEST(FailurePolicy, AJobMayWantEvictionsToCost) {
  const std::string evicted =
      R"({"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"})";
  for (const auto& [value, cost] :
       {std::pair("all", FailureAction::Count), std::pair("failures", FailureAction::Ignore)}) {
    const JobView counted(object(
        kinds::kJob, R"({"metadata":{"name":"j","annotations":{"krater.io/retry-accounting":")" +
                         std::string(value) + R"("}},"spec":{}})"));
    EXPECT_EQ(judge_failure(counted, pod(143, "main", evicted)).action, cost) << value;
  }
}

TEST(FailurePolicy, ConditionsMatchByTypeAndStatus) {
  const JobView disrupted = job(
      R"([{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}])");
  EXPECT_EQ(judge_failure(disrupted, pod(1, "m", R"({"type":"DisruptionTarget","status":"True"})"))
                .action,
            FailureAction::Ignore);
  EXPECT_EQ(judge_failure(disrupted, pod(1, "m", R"({"type":"DisruptionTarget","status":"False"})"))
                .action,
            FailureAction::Count);
}

TEST(FailurePolicy, WithoutAPolicyAllCounts) {
  EXPECT_EQ(
      judge_failure(JobView(object(kinds::kJob, R"({"metadata":{"name":"j"}})")), pod(1)).action,
      FailureAction::Count);
}

}  // namespace
}  // namespace krater::controllers
