#include "scheduler/parking.h"

#include <gtest/gtest.h>

namespace krater::scheduler {
namespace {

const WallTime kStart = WallTime::from_unix_seconds(1'767'225'600);

JobInfo job(const std::string& name, std::uint64_t version) {
  JobInfo out;
  out.key = {"d", name};
  out.version = version;
  return out;
}

JobReport hopeless(const std::string& name, std::uint64_t version) {
  JobReport out;
  out.key = {"d", name};
  out.version = version;
  out.can_park = true;
  return out;
}

JobReport bare(const std::string& name) {
  JobReport out;
  out.key = {"d", name};
  out.bare = true;
  return out;
}

void cycle(Parking& parking, const std::vector<JobReport>& reports, WallTime now,
           std::uint64_t help = 1) {
  parking.begin();
  for (const JobReport& report : reports) parking.take(report, help, now);
  parking.end();
}

TEST(Parking, HoldsWhoCannotBeHelpedUntilSomethingHelpsOrHeChanges) {
  Parking parking(5s);
  cycle(parking, {hopeless("a", 7)}, kStart);
  EXPECT_TRUE(parking.holds(job("a", 7), 1, kStart));
  EXPECT_FALSE(parking.holds(job("a", 8), 1, kStart));
  EXPECT_FALSE(parking.holds(job("a", 7), 2, kStart));
  EXPECT_FALSE(parking.holds(job("b", 7), 1, kStart));
  EXPECT_EQ(parking.first_due(), std::nullopt);
}

TEST(Parking, LetsGoWhoIsSeenWaitingNoMore) {
  Parking parking(5s);
  cycle(parking, {hopeless("a", 1), hopeless("b", 1)}, kStart);
  parking.begin();
  parking.stays({"d", "a"});
  parking.end();
  EXPECT_EQ(parking.size(), 1U);
  EXPECT_TRUE(parking.holds(job("a", 1), 1, kStart));
}

TEST(Parking, HoldsUntilATimeThatWasNamed) {
  Parking parking(5s);
  JobReport late = hopeless("a", 1), later = hopeless("b", 1);
  late.again = kStart + 10s;
  later.again = kStart + 20s;
  cycle(parking, {later, late}, kStart);
  EXPECT_EQ(parking.first_due(), kStart + 10s);
  EXPECT_TRUE(parking.holds(job("a", 1), 1, kStart + 9s));
  EXPECT_FALSE(parking.holds(job("a", 1), 1, kStart + 10s));
}

TEST(Parking, TellsOnceWhosePodsAreOverdue) {
  Parking parking(5s);
  cycle(parking, {bare("a")}, kStart);
  cycle(parking, {bare("b")}, kStart + 2s);
  EXPECT_EQ(parking.bare(), 2U);
  EXPECT_EQ(parking.first_due(), kStart + 5s);
  EXPECT_TRUE(parking.newly_overdue(kStart + 4s).empty());
  EXPECT_EQ(parking.newly_overdue(kStart + 5s), (std::vector<JobKey>{{"d", "a"}}));
  EXPECT_TRUE(parking.newly_overdue(kStart + 5s).empty());
  EXPECT_TRUE(parking.pods_overdue({"d", "a"}, kStart + 5s));
  EXPECT_FALSE(parking.pods_overdue({"d", "b"}, kStart + 5s));
  EXPECT_EQ(parking.first_due(), kStart + 7s);
}

TEST(Parking, WhosePodsCameIsNotOverdue) {
  Parking parking(5s);
  cycle(parking, {bare("a")}, kStart);
  JobReport made = bare("a");
  made.bare = false;
  cycle(parking, {made}, kStart + 1s);
  EXPECT_TRUE(parking.newly_overdue(kStart + 5s).empty());
  // A second life of the same name has its own time.
  cycle(parking, {bare("a")}, kStart + 6s);
  EXPECT_TRUE(parking.newly_overdue(kStart + 10s).empty());
  EXPECT_EQ(parking.newly_overdue(kStart + 11s).size(), 1U);
  parking.forget({"d", "a"});
  EXPECT_EQ(parking.size(), 0U);
}

TEST(Backoffs, DoubleWithEachFailureInARowUpToALimit) {
  Backoffs backoffs;
  const JobKey key{"d", "a"};
  const SteadyTime now{};
  EXPECT_EQ(backoffs.fail(key, now), 10ms);
  EXPECT_TRUE(backoffs.hold(key, now + 9ms));
  EXPECT_FALSE(backoffs.hold(key, now + 10ms));
  EXPECT_EQ(backoffs.fail(key, now), 20ms);
  for (int i = 0; i < 20; ++i) backoffs.fail(key, now);
  EXPECT_EQ(backoffs.fail(key, now), 10s);
  EXPECT_EQ(backoffs.failures(key), 23);
  backoffs.forget(key);
  EXPECT_FALSE(backoffs.hold(key, now));
  EXPECT_EQ(backoffs.fail(key, now), 10ms);
}

}  // namespace
}  // namespace krater::scheduler
