// What orders and policies do about what happens.
#include <gtest/gtest.h>

#include "controllers/vcjob/testing/job_test.h"

namespace krater::controllers::vcjob {
namespace {

using testing::VolcanoJobTest;

// VC-17, last point
TEST_F(VolcanoJobTest, SuspendingAndResumingUsesUpNoRetry) {
  make(task("w", 1), 1);
  for (int round = 0; round < 5; ++round) {
    admit();
    run_all();
    ASSERT_EQ(phase(), "Running");
    hold("j-w-0");
    order("AbortJob");
    EXPECT_EQ(world.get(kinds::kCommand, "d", "order"), nullptr) << "taken";
    EXPECT_EQ(phase(), "Aborting");
    EXPECT_EQ(group(), nullptr);
    let_go("j-w-0");
    EXPECT_EQ(phase(), "Aborted");
    EXPECT_TRUE(pods().empty());
    order("ResumeJob");
    EXPECT_EQ(phase(), "Pending");
  }
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(world.told("CommandIssued"), 10);
}

TEST_F(VolcanoJobTest, AnOrderSurvivesAConflict) {
  make(task("w", 1), 1);
  admit();
  run_all();
  int lost = 2;
  world.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* update = std::get_if<client::UpdateWrite>(&write);
    if (update == nullptr || update->subresource != "status" || lost == 0) return std::nullopt;
    --lost;
    return make_error(Code::Conflict, "moved on");
  };
  order("AbortJob");
  world.pass(1s);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(phase(), "Aborted");
}

TEST_F(VolcanoJobTest, AnExitCodeIsThatOfAnyContainerThatFailed) {
  struct Case {
    std::string name, spec, statuses;
    bool fits;
  };
  const auto ended = [](const std::string& name, int code) {
    return R"({"name":")" + name + R"(","state":{"terminated":{"exitCode":)" +
           std::to_string(code) + "}}}";
  };
  const std::string beside = R"("initContainers":[{"name":"side","restartPolicy":"Always"}],)";
  const std::vector<Case> cases{
      {"first", "", R"("containerStatuses":[)" + ended("a", 42) + "," + ended("b", 0) + "]", true},
      {"second", "", R"("containerStatuses":[)" + ended("a", 0) + "," + ended("b", 42) + "]", true},
      {"both", "", R"("containerStatuses":[)" + ended("a", 1) + "," + ended("b", 42) + "]", true},
      {"another", "", R"("containerStatuses":[)" + ended("a", 1) + "," + ended("b", 0) + "]",
       false},
      {"init", "",
       R"("initContainerStatuses":[)" + ended("i", 42) +
           R"(],"containerStatuses":[{"name":"a","state":{"waiting":{}}}])",
       true},
      {"a sidecar that was stopped", beside,
       R"("initContainerStatuses":[)" + ended("side", 42) + R"(],"containerStatuses":[)" +
           ended("a", 1) + "]",
       false}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const std::string name = "j" + std::to_string(i);
    make(R"({"name":"w","replicas":1,"template":{"spec":{)" + one.spec +
             R"("containers":[{"name":"a"},{"name":"b"}]}}})",
         1, R"(,"policies":[{"exitCode":42,"action":"TerminateJob"}])", name);
    const ObjectPtr group =
        world.get(kinds::kPodGroup, "d", VolcanoJobView(job(name)).pod_group_name());
    world.patch(*group, kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
    world.settle();
    world.patch(*pod(name + "-w-0"), kinds::kPod,
                R"({"status":{"phase":"Failed",)" + one.statuses + "}}");
    world.settle();
    EXPECT_EQ(Status::of(VolcanoJobView(job(name))).reason == "TerminateJob", one.fits) << one.name;
  }
}

TEST_F(VolcanoJobTest, OrdersToOthersOfThisNameAreNotForIt) {
  make(task("w", 1), 1);
  admit();
  run_all();
  const auto order = [&](const std::string& api, const std::string& uid) {
    world.put(kinds::kCommand,
              R"({"metadata":{"name":"o","namespace":"d"},"action":"AbortJob","target":)"
              R"({"apiVersion":")" +
                  api + R"(","kind":"Job","name":"j","uid":")" + uid + R"("}})");
    world.settle();
    world.pass(1s);
  };
  order("batch/v1", job()->uid().text());
  EXPECT_EQ(phase(), "Running");
  EXPECT_NE(world.get(kinds::kCommand, "d", "o"), nullptr) << "another controller's";
  world.remove(kinds::kCommand, "d", "o");
  order("batch.volcano.sh/v1alpha1", "of an earlier one");
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(world.get(kinds::kCommand, "d", "o"), nullptr);
  EXPECT_EQ(world.told("CommandIssued"), 0);
  order("batch.volcano.sh/v1alpha1", "");
  EXPECT_EQ(phase(), "Aborted");
}

TEST_F(VolcanoJobTest, OrdersWithoutAJobAreClearedAway) {
  world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"d"},"action":"AbortJob",)"
                             R"("target":{"kind":"Job","name":"nobody","uid":"x"}})");
  world.settle();
  EXPECT_EQ(world.get(kinds::kCommand, "d", "o"), nullptr);
  world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"d"},"action":"CloseQueue",)"
                             R"("target":{"kind":"Queue","name":"q","uid":"x"}})");
  world.settle();
  EXPECT_NE(world.get(kinds::kCommand, "d", "o"), nullptr) << "another controller's";
}

TEST_F(VolcanoJobTest, ADelayedActionIsVoidWhenItsCauseIsGone) {
  make(task("w", 1), 1,
       R"(,"policies":[{"event":"PodPending","action":"AbortJob","timeout":"60s"}])");
  admit();
  EXPECT_EQ(world.told("ExecuteAction"), 1) << "announced";
  world.pass(59s);
  run_all();
  world.pass(120s);
  EXPECT_EQ(phase(), "Running");
  make(task("w", 1), 1,
       R"(,"policies":[{"event":"PodPending","action":"AbortJob","timeout":"60s"}])", "late");
  world.patch(*world.get(kinds::kPodGroup, "d", "late-" + job("late")->uid().text()),
              kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
  world.settle();
  world.pass(59s);
  EXPECT_EQ(text_at(*job("late")->document(), {"status", "state", "phase"}), "Pending");
  world.pass(2s);
  EXPECT_EQ(text_at(*job("late")->document(), {"status", "state", "phase"}), "Aborted");
}

TEST_F(VolcanoJobTest, AnEvictionThatIsMadeGoodInTimeIsForgiven) {
  make(task("w", 2), 2,
       R"(,"policies":[{"event":"PodEvicted","action":"TerminateJob","timeout":"30s"}])");
  admit();
  run_all();
  evict("j-w-0");
  world.pass(10s);
  run_all();
  world.pass(60s);
  EXPECT_EQ(phase(), "Running");
  evict("j-w-0");
  world.pass(31s);
  EXPECT_EQ(phase(), "Terminated");
}

TEST_F(VolcanoJobTest, AnUnknownGangRestartsItsJob) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"Unknown","action":"RestartJob"}])");
  admit("Running");
  run_all();
  admit("Unknown");
  EXPECT_EQ(status().retry_count, 0) << "nothing is lost: both run";
  EXPECT_EQ(phase(), "Running");
  admit("Running");
  end("j-w-0", 1);
  admit("Unknown");
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(VolcanoJobTest, AFinishedPodThatIsCleanedUpLosesNothing) {
  make(task("a", 1) + "," + task("b", 1), 2,
       R"(,"policies":[{"event":"Unknown","action":"RestartJob"}])");
  admit("Running");
  run_all();
  end("j-a-0");
  const Uid b = pod("j-b-0")->uid();
  evict("j-a-0");
  admit("Unknown");  // who schedules may have looked in between
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(pod("j-b-0")->uid(), b);
}

// Its pods end in one moment; told one by one, it had been completed before the last of them.
TEST_F(VolcanoJobTest, EnoughSuccessComesBeforeACompletedTask) {
  const std::string policy = R"(,"policies":[{"event":"TaskCompleted","action":"RestartTask"}])";
  const auto all_at_once = [&](const std::string& name) {
    for (int i = 0; i < 3; ++i) {
      world.patch(*pod(name + "-w-" + std::to_string(i)), kinds::kPod,
                  R"({"status":{"phase":"Succeeded"}})");
    }
    world.settle();
  };
  make(task("w", 3), 3, policy + R"(,"minSuccess":2)");
  admit();
  run_all();
  all_at_once("j");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().retry_count, 0);
  make(task("w", 3), 3, policy + R"(,"minSuccess":3)", "last");
  world.patch(*world.get(kinds::kPodGroup, "d", "last-" + job("last")->uid().text()),
              kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
  world.settle();
  run_all();
  all_at_once("last");
  EXPECT_EQ(int_at(*job("last")->document(), {"status", "retryCount"}), 1)
      << "the last pod completes both";
}

TEST_F(VolcanoJobTest, ATaskThatRestartsTooOftenHasFailed) {
  make(task("w", 1, R"(,"maxRetry":3)"), 1,
       R"(,"policies":[{"event":"TaskFailed","action":"TerminateJob"}])");
  admit();
  run_all();
  const auto restarts = [&](int count) {
    world.patch(*pod("j-w-0"), kinds::kPod,
                R"({"status":{"containerStatuses":[{"name":"main","ready":true,"restartCount":)" +
                    std::to_string(count) + R"(,"state":{"running":{}}}]}})");
    world.settle();
  };
  restarts(2);
  EXPECT_EQ(phase(), "Running");
  restarts(3);
  EXPECT_EQ(phase(), "Terminated");
}

}  // namespace
}  // namespace krater::controllers::vcjob
