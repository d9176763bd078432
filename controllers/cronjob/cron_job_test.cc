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

TEST_F(CronJobTest, ASchedulesTroublesAreTold) {
  make(R"("schedule":"0 0 31 2 *")");
  EXPECT_EQ(world.told("InvalidSchedule"), 1);
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"schedule":"* * * * *","suspend":true}})");
  world.settle();
  world.pass(100min);
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"suspend":false}})");
  world.settle();
  EXPECT_EQ(jobs().size(), 1U);
  EXPECT_EQ(world.told("TooManyMissedTimes"), 0) << "a hundred are not too many";
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"suspend":true}})");
  world.settle();
  world.pass(101min);
  world.patch(*cron(), kinds::kCronJob, R"({"spec":{"suspend":false}})");
  world.settle();
  EXPECT_EQ(jobs().size(), 2U);
  EXPECT_EQ(world.told("TooManyMissedTimes"), 1);
}

const Kind cron_kind{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};

struct VolcanoCronJobTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_volcano_cron_job_controller());
    world.controllers.start();
    world.settle();
  }
  void make(const std::string& spec) {
    world.put(
        cron_kind,
        R"({"metadata":{"name":"c","namespace":"d"},"spec":{"jobTemplate":{"spec":{"queue":"q"}},)" +
            spec + "}}");
    world.settle();
  }
  std::vector<ObjectPtr> jobs() const { return world.fake.all(kinds::kVolcanoJob); }
  void enter(const ObjectPtr& job, const std::string& phase) {
    world.patch(*job, kinds::kVolcanoJob,
                R"({"status":{"state":{"phase":")" + phase + R"(","lastTransitionTime":")" +
                    to_rfc3339(world.loop.wall().now()) + R"("}}})");
    world.settle();
  }
  // "Normal SuccessfulCreate ..." of every Event of this reason.
  std::vector<std::string> told(std::string_view reason) const {
    std::vector<std::string> out;
    for (const ObjectPtr& event : world.fake.all(kinds::kEvent)) {
      const auto document = event->document();
      if (text_at(*document, {"reason"}) == reason)
        out.push_back(text_at(*document, {"type"}) + " " + text_at(*document, {"message"}));
    }
    return out;
  }
};
using Lines = std::vector<std::string>;

TEST_F(VolcanoCronJobTest, SpeaksAsVolcanoDoes) {
  make(R"("schedule":"* * * * *","concurrencyPolicy":"Forbid","successfulJobsHistoryLimit":0)");
  world.pass(1min);
  EXPECT_EQ(told("SuccessfulCreate"), Lines{"Normal Created job c-29453761 for CronJob d/c"});
  world.pass(1min);
  EXPECT_EQ(told("ForbidConcurrent"),
            Lines{"Warning Skipping job creation because another job is already running"});
  enter(jobs().at(0), "Aborted");
  EXPECT_EQ(told("SawCompletedJob"), Lines{}) << "it can be resumed";
  enter(jobs().at(0), "Completed");
  EXPECT_EQ(told("SawCompletedJob"),
            Lines{"Normal Saw completed job: c-29453761 in active, remove"});
  EXPECT_EQ(told("SuccessfulDelete").at(0), "Normal Deleted job \"c-29453761\"");
  EXPECT_EQ(told("JobAlreadyActive"), Lines{});
}

TEST_F(VolcanoCronJobTest, TellsOfJobsThatItReplacesAndLoses) {
  make(R"("schedule":"* * * * *","concurrencyPolicy":"Replace")");
  world.pass(1min);
  EXPECT_EQ(told("ReplaceConcurrent"), Lines{});
  world.pass(1min);
  EXPECT_EQ(told("ReplaceConcurrent"), Lines{"Warning Replacing active job for CronJob"});
  EXPECT_EQ(told("StaleReference"), Lines{}) << "it has seen to that itself";
  ASSERT_EQ(jobs().size(), 1U);
  const std::string uid = jobs()[0]->uid().text();
  world.remove(kinds::kVolcanoJob, "d", "c-29453762");
  world.settle();
  EXPECT_EQ(told("StaleReference").back(),
            "Warning Active job \"c-29453762\" no longer exists (UID: " + uid + ")");
}

TEST_F(VolcanoCronJobTest, TellsOfJobsThatAreNotItsOwn) {
  world.put(kinds::kVolcanoJob, R"({"metadata":{"name":"c-29453761","namespace":"d"},"spec":{}})");
  make(R"("schedule":"* * * * *")");
  world.pass(1min);
  EXPECT_EQ(told("ForeignJob"),
            Lines{"Warning Job c-29453761 exists but is not owned by this CronJob (current owner: "
                  "none)"});
  world.pass(1min);
  EXPECT_EQ(told("SuccessfulCreate"), Lines{"Normal Created job c-29453762 for CronJob d/c"});
  const std::string owner = world.get(cron_kind, "d", "c")->uid().text();
  world.put(kinds::kVolcanoJob,
            R"({"metadata":{"name":"by-hand","namespace":"d","ownerReferences":[{"apiVersion":)"
            R"("batch.volcano.sh/v1alpha1","kind":"CronJob","name":"c","controller":true,"uid":")" +
                owner + R"("}]},"spec":{}})");
  world.settle();
  EXPECT_EQ(told("OrphanedJob").at(0),
            "Warning Detected orphaned job forgotten or not managed by controller: by-hand (UID: " +
                world.get(kinds::kVolcanoJob, "d", "by-hand")->uid().text() + ")");
}

TEST_F(VolcanoCronJobTest, TellsOfSchedulesThatNeverCome) {
  make(R"("schedule":"0 0 31 2 *")");
  EXPECT_EQ(
      told("InvalidSchedule"),
      Lines{"Warning Error getting schedule time: time difference between two schedules is less "
            "than 1 second"});
  world.patch(*world.get(cron_kind, "d", "c"), cron_kind, R"({"spec":{"timeZone":"Moon/Crater"}})");
  world.settle();
  EXPECT_EQ(told("InvalidTimeZone").size(), 1U);
}

TEST(VolcanoCronJobs, StartVolcanoJobsAndFollowTheirPhases) {
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
