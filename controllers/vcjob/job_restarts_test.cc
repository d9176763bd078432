// What is restarted, how often, and what is kept after the last try.
#include <gtest/gtest.h>

#include "controllers/vcjob/testing/job_test.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

using testing::Names;
using testing::VolcanoJobTest;

// VC-17
TEST_F(VolcanoJobTest, RestartsAsOftenAsItMayAndKeepsTheLastFailure) {
  make(task("bad", 1) + "," + task("good", 1), 2,
       R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])");
  for (int round = 1; round <= 2; ++round) {
    admit();
    run_all();
    ASSERT_EQ(phase(), "Running");
    hold("j-good-0");
    end("j-bad-0", 7);
    EXPECT_EQ(phase(), "Restarting");
    EXPECT_EQ(status().retry_count, round);
    EXPECT_EQ(status().version, round);
    EXPECT_EQ(status().message, "PodFailed of pod j-bad-0, exit code 7");
    EXPECT_EQ(group(), nullptr) << "it queues again";
    EXPECT_EQ(pods(), Names{"j-good-0"}) << "nothing new before all of the old is gone";
    let_go("j-good-0");
    EXPECT_EQ(phase(), "Pending");
    ASSERT_NE(group(), nullptr);
  }
  admit();
  run_all();
  EXPECT_EQ(PodView(pod("j-bad-0")).annotation(keys::kVolcanoJobRetryCount), "2");
  end("j-bad-0", 7);
  EXPECT_EQ(phase(), "Failed");
  EXPECT_EQ(status().retry_count, 3);
  EXPECT_EQ(pods(), Names{"j-bad-0"}) << "its logs can be read";
  EXPECT_EQ(world.told("ExecuteAction"), 3);
}

// Its queue is closed, say.
TEST_F(VolcanoJobTest, AJobThatMayNotAskAnewSaysWhatThereIsOfIt) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])");
  admit();
  run_all();
  world.fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* creation = std::get_if<client::CreateWrite>(&write);
    if (creation == nullptr || creation->kind != kinds::kPodGroup) return std::nullopt;
    return make_error(Code::Forbidden, "the queue is closed");
  };
  end("j-w-0", 7);
  world.pass(1s);
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(status().counts.terminating, 0);
  EXPECT_EQ(status().counts.running, 0);
  world.fake.fail = nullptr;
  world.pass(1min);
  ASSERT_NE(group(), nullptr) << "it asks again";
}

TEST_F(VolcanoJobTest, AnEvictionByTheSchedulerCostsNoRetry) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  for (int round = 0; round < 5; ++round) {
    admit();
    run_all();
    evict("j-w-1", true);
    ASSERT_EQ(phase(), "Pending");
    EXPECT_EQ(status().retry_count, 0);
    EXPECT_EQ(status().version, round + 1);
    EXPECT_EQ(status().counts.running, 0);
  }
  admit();
  run_all();
  evict("j-w-0");
  EXPECT_EQ(status().retry_count, 1) << "any other does";
}

TEST_F(VolcanoJobTest, AJobMayWantEveryRestartToCost) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  world.patch(*job(), kinds::kVolcanoJob,
              R"({"metadata":{"annotations":{"krater.io/retry-accounting":"all"}}})");
  admit();
  run_all();
  evict("j-w-1", true);
  EXPECT_EQ(status().retry_count, 1) << "the scheduler's eviction";
  admit();
  run_all();
  order("AbortJob");
  ASSERT_EQ(phase(), "Aborted");
  EXPECT_EQ(status().retry_count, 1);
  order("ResumeJob");
  EXPECT_EQ(status().retry_count, 2) << "that it was resumed";
}

TEST_F(VolcanoJobTest, RestartsOnePodOrOneTask) {
  make(task("a", 2,
            R"(,"policies":[{"exitCode":3,"action":"RestartPod"},)"
            R"({"event":"PodFailed","action":"RestartTask"}])") +
           "," + task("b", 1),
       3);
  admit();
  run_all();
  const auto uid = [&](const std::string& name) { return pod(name)->uid(); };
  const Uid a0 = uid("j-a-0"), a1 = uid("j-a-1"), b0 = uid("j-b-0");
  const Uid gang = group()->uid();
  end("j-a-0", 3);
  EXPECT_NE(uid("j-a-0"), a0);
  EXPECT_EQ(uid("j-a-1"), a1);
  EXPECT_EQ(group()->uid(), gang) << "it keeps its place";
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(status().version, 0);
  EXPECT_EQ(phase(), "Pending");
  run_all();
  EXPECT_EQ(phase(), "Running");
  end("j-a-0", 1);
  EXPECT_NE(uid("j-a-1"), a1) << "the whole task";
  EXPECT_EQ(uid("j-b-0"), b0);
  EXPECT_EQ(status().retry_count, 2);
}

TEST_F(VolcanoJobTest, RestartsOnePartition) {
  make(task("w", 4,
            R"(,"partitionPolicy":{"totalPartitions":2,"partitionSize":2,"minPartitions":1},)"
            R"("minAvailable":2,"policies":[{"event":"PodFailed","action":"RestartPartition"}])"),
       2);
  const PodGroupView pg(group());
  const JsonArray& sub = *array_at(pg.document(), {"spec", "subGroupPolicy"});
  ASSERT_EQ(sub.size(), 1U);
  EXPECT_EQ(int_at(sub[0], {"subGroupSize"}), 2);
  EXPECT_EQ(int_at(sub[0], {"minSubGroups"}), 1);
  admit();
  run_all();
  EXPECT_EQ(pod("j-w-3")->label(keys::kVolcanoPartition), "1");
  const Uid w0 = pod("j-w-0")->uid(), w2 = pod("j-w-2")->uid();
  end("j-w-3", 1);
  EXPECT_EQ(pod("j-w-0")->uid(), w0);
  EXPECT_NE(pod("j-w-2")->uid(), w2);
}

// VC-17 again: what failed last can be looked at, whatever was to be restarted.
TEST_F(VolcanoJobTest, AfterTheLastTryWhatHasEndedStays) {
  for (const std::string action : {"RestartPod", "RestartTask", "RestartPartition"}) {
    make(task("w", 2,
              R"(,"partitionPolicy":{"totalPartitions":1,"partitionSize":2},)"
              R"("policies":[{"event":"PodFailed","action":")" +
                  action + R"("}])") +
             "," + task("other", 1),
         3, R"(,"maxRetry":2)");
    admit();
    run_all();
    const Uid first = pod("j-w-0")->uid();
    end("j-w-0", 1);
    ASSERT_NE(pod("j-w-0")->uid(), first) << action << ": there is another try";
    run_all();
    const Uid last = pod("j-w-0")->uid();
    end("j-w-0", 1);
    EXPECT_EQ(phase(), "Failed") << action;
    EXPECT_EQ(status().retry_count, 2);
    EXPECT_EQ(status().counts.failed, 1);
    EXPECT_EQ(pods(), Names{"j-w-0"}) << action;
    EXPECT_EQ(pod("j-w-0")->uid(), last);
    world.pass(60s);
    EXPECT_EQ(pods(), Names{"j-w-0"});
    world.remove(kinds::kVolcanoJob, "d", "j");
    world.remove(kinds::kPod, "d", "j-w-0");
    world.settle();
  }
}

TEST_F(VolcanoJobTest, WhereThereAreNoPartitionsNoneIsRestarted) {
  make(task("a", 2) + "," + task("b", 1), 2,
       R"(,"policies":[{"events":["PodFailed","PodEvicted"],"action":"RestartPartition"}])");
  admit();
  run_all();
  const Uid a1 = pod("j-a-1")->uid(), b0 = pod("j-b-0")->uid();
  end("j-a-0", 1);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(status().counts.failed, 1);
  evict("j-b-0");
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(pod("j-a-1")->uid(), a1);
  EXPECT_NE(pod("j-b-0")->uid(), b0) << "made again, as without a policy";
}

TEST_F(VolcanoJobTest, AnActionIsCarriedOutOnceWhenTheProcessStopsInBetween) {
  make(task("bad", 1) + "," + task("good", 1), 2,
       R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])");
  admit();
  run_all();
  // The status is stored, then nothing works for a while.
  bool stuck = false;
  world.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    if (stuck && std::holds_alternative<client::PatchWrite>(write))
      return make_error(Code::Unavailable, "no");
    return std::nullopt;
  };
  stuck = true;
  end("j-bad-0", 1);
  EXPECT_EQ(phase(), "Restarting");
  EXPECT_EQ(pods().size(), 2U);
  EXPECT_EQ(status().retry_count, 1);
  stuck = false;
  world.pass(120s);
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(phase(), "Pending");
  admit();
  EXPECT_EQ(pods().size(), 2U);
  for (const std::string& name : pods())
    EXPECT_EQ(PodView(pod(name)).annotation(keys::kVolcanoJobVersion), "1");
}

}  // namespace
}  // namespace krater::controllers::vcjob
