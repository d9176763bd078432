// CronJobs over days of a clock that moves when told, with hands that end their Jobs.
#include <gtest/gtest.h>

#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/cronjob/cron_job_step.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

struct CronJobTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_cron_job_controller());
    world.controllers.start();
    world.settle();
  }
  void make(const std::string& spec) {
    world.put(
        kinds::kCronJob,
        R"({"metadata":{"name":"c","namespace":"d"},"spec":{)" + spec +
            R"(,"jobTemplate":{"metadata":{"labels":{"l":"v"},"annotations":{"a":"b"}},"spec":{"backoffLimit":1,"template":{"spec":{"restartPolicy":"Never"}}}}}})");
    world.settle();
  }
  ObjectPtr cron() const { return world.get(kinds::kCronJob, "d", "c"); }
  std::vector<ObjectPtr> jobs() const { return world.fake.all(kinds::kJob); }
  void end(const ObjectPtr& job, std::string_view condition) {
    world.patch(*job, kinds::kJob,
                R"({"status":{"completionTime":")" + to_rfc3339(world.loop.wall().now()) +
                    R"(","conditions":[{"type":")" + std::string(condition) +
                    R"(","status":"True"}]}})");
    world.settle();
  }
  std::size_t active() const {
    const CronJobView view(cron());
    const JsonArray* list = array_at(view.document(), {"status", "active"});
    return list == nullptr ? 0 : list->size();
  }
};

TEST_F(CronJobTest, MakesAJobForEachMoment) {
  make(R"("schedule":"*/5 * * * *")");
  EXPECT_TRUE(jobs().empty());
  world.pass(5min);
  ASSERT_EQ(jobs().size(), 1U);
  const ObjectPtr job = jobs()[0];
  // 2026-01-01T00:05:00Z in minutes since 1970.
  EXPECT_EQ(job->name(), "c-29453765");
  EXPECT_EQ(job->label("l"), "v");
  EXPECT_EQ(job->controller()->name, "c");
  EXPECT_EQ(int_at(*job->document(), {"spec", "backoffLimit"}), 1);
  EXPECT_EQ(ObjectView(job).annotation("a"), "b");
  EXPECT_EQ(ObjectView(job).annotation(keys::kScheduledTime), "2026-01-01T00:05:00Z");
  EXPECT_EQ(text_at(*cron()->document(), {"status", "lastScheduleTime"}), "2026-01-01T00:05:00Z");
  EXPECT_EQ(active(), 1U);
  EXPECT_EQ(world.told("SuccessfulCreate"), 1);
  end(job, "Complete");
  EXPECT_EQ(active(), 0U);
  EXPECT_EQ(world.told("SawCompletedJob"), 1);
  EXPECT_EQ(text_at(*cron()->document(), {"status", "lastSuccessfulTime"}), "2026-01-01T00:05:00Z");
  world.pass(5min);
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(CronJobTest, ConcurrencyIsAsAsked) {
  const struct {
    std::string_view policy;
    std::size_t jobs;
    std::string_view last;
  } cases[] = {
      {"Allow", 3, "c-29453763"}, {"Forbid", 1, "c-29453761"}, {"Replace", 1, "c-29453763"}};
  for (const auto& item : cases) {
    testing::World fresh;
    fresh.controllers.add(make_cron_job_controller());
    fresh.controllers.start();
    fresh.put(
        kinds::kCronJob,
        R"({"metadata":{"name":"c","namespace":"d"},"spec":{"schedule":"* * * * *","concurrencyPolicy":")" +
            std::string(item.policy) + R"(","jobTemplate":{"spec":{}}}})");
    fresh.settle();
    fresh.pass(3min + 1s);
    const std::vector<ObjectPtr> all = fresh.fake.all(kinds::kJob);
    ASSERT_EQ(all.size(), item.jobs) << item.policy;
    EXPECT_EQ(all.back()->name(), item.last) << item.policy;
  }
}

TEST_F(CronJobTest, AForbiddenMomentIsMadeUpForWhenTheJobEnds) {
  make(R"("schedule":"* * * * *","concurrencyPolicy":"Forbid")");
  world.pass(2min + 30s);
  ASSERT_EQ(jobs().size(), 1U);
  EXPECT_GT(world.told("JobAlreadyActive"), 0);
  end(jobs()[0], "Complete");
  ASSERT_EQ(jobs().size(), 2U);
  EXPECT_EQ(jobs()[1]->name(), "c-29453762");
}

TEST_F(CronJobTest, WhileSuspendedNothingStartsAndAfterwardsOnlyTheLastMissed) {
  make(R"("schedule":"0 * * * *","suspend":true)");
  world.pass(5h + 10min);
  EXPECT_TRUE(jobs().empty());
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"suspend":false}})");
  world.settle();
  ASSERT_EQ(jobs().size(), 1U);
  EXPECT_EQ(text_at(*cron()->document(), {"status", "lastScheduleTime"}), "2026-01-01T05:00:00Z");
}

TEST_F(CronJobTest, AStartThatIsTooLateIsMissed) {
  make(R"("schedule":"0 * * * *","suspend":true,"startingDeadlineSeconds":60)");
  world.pass(5h + 10min);
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"suspend":false}})");
  world.settle();
  EXPECT_TRUE(jobs().empty());
  world.pass(50min);
  EXPECT_EQ(jobs().size(), 1U);
}

TEST_F(CronJobTest, TheHistoryKeepsTheNewest) {
  make(R"("schedule":"* * * * *","successfulJobsHistoryLimit":2,"failedJobsHistoryLimit":0)");
  for (int i = 0; i < 4; ++i) {
    world.pass(1min);
    end(jobs().back(), "Complete");
  }
  ASSERT_EQ(jobs().size(), 2U);
  EXPECT_EQ(jobs()[0]->name(), "c-29453763");
  world.pass(1min);
  end(jobs().back(), "Failed");
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(CronJobTest, JobsThatPeopleMakeFromItAreNotItsOwn) {
  make(R"("schedule":"0 * * * *","concurrencyPolicy":"Forbid")");
  world.put(
      kinds::kJob,
      R"({"metadata":{"name":"manual","namespace":"d","ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"c","uid":")" +
          cron()->uid().text() + R"(","controller":true}]},"spec":{}})");
  world.settle();
  EXPECT_EQ(active(), 0U);
  world.pass(1h);
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(CronJobTest, TheZoneIsTheCronJobsOwn) {
  make(R"("schedule":"0 6 * * *","timeZone":"Europe/Vienna")");
  world.pass(4h + 59min);
  EXPECT_TRUE(jobs().empty());
  world.pass(2min);
  ASSERT_EQ(jobs().size(), 1U);
  EXPECT_EQ(ObjectView(jobs()[0]).annotation(keys::kScheduledTime), "2026-01-01T06:00:00+01:00");
}

TEST_F(CronJobTest, WhatCannotBeReadIsTold) {
  make(R"("schedule":"nonsense")");
  EXPECT_EQ(world.told("UnparseableSchedule"), 1);
}

TEST(VolcanoCronJobs, StartVolcanoJobsAndFollowTheirPhases) {
  const Kind cron_kind{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  testing::World world;
  world.controllers.add(make_volcano_cron_job_controller());
  world.controllers.start();
  world.settle();
  world.put(
      cron_kind,
      R"({"metadata":{"name":"c","namespace":"d"},"spec":{"schedule":"*/5 * * * *","concurrencyPolicy":"Forbid","successfulJobsHistoryLimit":1,"jobTemplate":{"spec":{"queue":"q","minAvailable":2}}}})");
  world.settle();
  world.pass(5min);
  ASSERT_EQ(world.fake.all(kinds::kVolcanoJob).size(), 1U);
  const ObjectPtr job = world.fake.all(kinds::kVolcanoJob)[0];
  EXPECT_EQ(job->name(), "c-29453765");
  EXPECT_EQ(text_at(*job->document(), {"spec", "queue"}), "q");
  EXPECT_EQ(ObjectView(job).annotation("volcano.sh/cronjob-scheduled-timestamp"),
            "2026-01-01T00:05:00Z");
  world.pass(5min);
  EXPECT_EQ(world.fake.all(kinds::kVolcanoJob).size(), 1U);  // it still runs
  world.patch(
      *job, kinds::kVolcanoJob,
      R"({"status":{"state":{"phase":"Completed","lastTransitionTime":"2026-01-01T00:10:00Z"}}})");
  world.settle();
  world.pass(5min);
  const ObjectPtr cron = world.get(cron_kind, "d", "c");
  EXPECT_EQ(text_at(*cron->document(), {"status", "lastSuccessfulTime"}), "2026-01-01T00:10:00Z");
  EXPECT_EQ(text_at(*array_at(*cron->document(), {"status", "active"})->begin(), {"apiVersion"}),
            "batch.volcano.sh/v1alpha1");
}

}  // namespace
}  // namespace krater::controllers
