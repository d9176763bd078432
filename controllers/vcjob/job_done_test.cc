// What has succeeded is not done again, and what was lost is.
#include <gtest/gtest.h>

#include "controllers/vcjob/testing/job_test.h"

namespace krater::controllers::vcjob {
namespace {

using testing::Names;
using testing::VolcanoJobTest;

// VC-29
TEST_F(VolcanoJobTest, WhatHasSucceededIsNotDoneAgain) {
  make(task("short", 2) + "," + task("long", 1), 1,
       R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  admit();
  run_all();
  end("j-short-0");
  end("j-short-1");
  evict("j-short-0");
  EXPECT_EQ(pods(), (Names{"j-long-0", "j-short-1"}));
  EXPECT_EQ(status().counts.succeeded, 2);
  EXPECT_EQ(status().counts.of("short", PodPhase::Succeeded), 2);
  EXPECT_EQ(phase(), "Running");
  end("j-long-0");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().counts.succeeded, 3);
}

// What is left is a gang of its own: it can start again.
TEST_F(VolcanoJobTest, AGangWithoutWhatIsDoneIsSmaller) {
  make(task("a", 3) + "," +
           task("b", 1, R"(,"policies":[{"event":"PodFailed","action":"RestartTask"}])"),
       4);
  const auto wanted = [&](std::string_view field) {
    return int_at(*group()->document(), {"spec", field});
  };
  admit("Running");
  run_all();
  for (const char* name : {"j-a-0", "j-a-1", "j-a-2"}) end(name);
  EXPECT_EQ(wanted("minMember"), 4) << "who is still there counts";
  for (const char* name : {"j-a-0", "j-a-1", "j-a-2"}) evict(name);
  EXPECT_EQ(wanted("minMember"), 1);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minTaskMember", "a"}), 0);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minTaskMember", "b"}), 1);
  EXPECT_EQ(text_at(*group()->document(), {"spec", "minResources", "pods"}), "1");
  end("j-b-0", 1);
  EXPECT_EQ(pods(), Names{"j-b-0"});
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(wanted("minMember"), 1);
  run_all();
  EXPECT_EQ(phase(), "Running");
  end("j-b-0");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().min_available, 4) << "the job itself wants what it wanted";
}

TEST_F(VolcanoJobTest, ATaskThatIsDoneAnewIsAskedForAnew) {
  make(task("a", 1) + "," +
           task("b", 1, R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])"),
       2);
  admit("Running");
  run_all();
  end("j-a-0");
  evict("j-a-0");
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minMember"}), 1);
  end("j-b-0", 1);
  EXPECT_EQ(status().version, 1);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minMember"}), 2);
  admit();
  EXPECT_EQ(pods(), (Names{"j-a-0", "j-b-0"}));
}

TEST_F(VolcanoJobTest, PartitionsWithoutWhatIsDoneAreSmaller) {
  make(task("w", 4,
            R"(,"partitionPolicy":{"totalPartitions":2,"partitionSize":2,"minPartitions":2},)"
            R"("minAvailable":4)"),
       4);
  admit("Running");
  run_all();
  const auto size = [&](std::string_view field) {
    return int_at(array_at(*group()->document(), {"spec", "subGroupPolicy"})->at(0), {field});
  };
  end("j-w-1");
  evict("j-w-1");
  EXPECT_EQ(size("subGroupSize"), 1);
  EXPECT_EQ(size("minSubGroups"), 2);
  end("j-w-0");
  evict("j-w-0");
  EXPECT_EQ(size("subGroupSize"), 2);
  EXPECT_EQ(size("minSubGroups"), 1);
}

TEST_F(VolcanoJobTest, ALostPodIsMadeAgainWithoutAPolicy) {
  make(task("w", 2), 2);
  admit();
  run_all();
  evict("j-w-1");
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(status().counts.running, 1);
  run_all();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().retry_count, 0);
}

TEST_F(VolcanoJobTest, APodThatFailsBecauseItIsDeletedIsEvicted) {
  make(task("w", 2), 2,
       R"(,"policies":[{"event":"PodFailed","action":"TerminateJob"},)"
       R"({"event":"PodEvicted","action":"RestartJob"}])");
  admit();
  run_all();
  hold("j-w-0");
  evict("j-w-0");
  end("j-w-0", 143);
  EXPECT_EQ(phase(), "Running");
  let_go("j-w-0");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(status().version, 1);
}

// VC-29
TEST_F(VolcanoJobTest, WhoIsLostWithHisNodeHasNotFailed) {
  make(task("short", 1) + "," + task("long", 1), 1);
  admit();
  run_all();
  end("j-short-0");
  const Uid first = pod("j-long-0")->uid();
  world.patch(
      *pod("j-long-0"), kinds::kPod,
      R"({"status":{"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByPodGC"}]}})");
  world.settle();
  EXPECT_EQ(phase(), "Running");
  evict("j-long-0");
  ASSERT_NE(pod("j-long-0"), nullptr);
  EXPECT_NE(pod("j-long-0")->uid(), first);
  EXPECT_EQ(phase(), "Running");
}

TEST_F(VolcanoJobTest, WhoEndsWellOnlyBecauseItIsDeletedIsRunAgain) {
  make(task("w", 2), 2);
  admit();
  run_all();
  const Uid first = pod("j-w-0")->uid();
  hold("j-w-0");
  evict("j-w-0");
  end("j-w-0", 0);
  EXPECT_EQ(status().counts.succeeded, 0);
  EXPECT_EQ(status().counts.terminating, 1);
  let_go("j-w-0");
  ASSERT_NE(pod("j-w-0"), nullptr);
  EXPECT_NE(pod("j-w-0")->uid(), first);
}

}  // namespace
}  // namespace krater::controllers::vcjob
