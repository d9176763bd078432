#include "agent/node/usage_meter.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace krater::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kBegin = *parse_rfc3339("2026-01-01T00:00:00Z");

// `busy` of each thousand ticks, one a millisecond.
UsageSample at(Duration since, std::int64_t busy, std::int64_t memory) {
  const auto ticks = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  return {ticks * busy / 1000, ticks, memory};
}

TEST(UsageMeter, SaysNothingBeforeTwoSamples) {
  UsageMeter meter;
  EXPECT_FALSE(meter.news(kBegin));
  meter.add(at(seconds(10), 500, 300), kBegin);
  EXPECT_FALSE(meter.mean());
  meter.add(at(seconds(20), 500, 500), kBegin + seconds(10));
  EXPECT_EQ(meter.mean(), (MachineUsage{500, 400}));
}

TEST(UsageMeter, ForgetsWhatWasBeforeItsWindow) {
  UsageMeter meter;
  UsageSample sample{0, 0, 900};
  meter.add(sample, kBegin);
  sample = {600'000, 600'000, 900};  // ten busy minutes
  meter.add(sample, kBegin + minutes(10));
  EXPECT_EQ(meter.mean(), (MachineUsage{1000, 900}));
  sample = {600'000, 1'200'000, 100};  // ten idle ones
  meter.add(sample, kBegin + minutes(20));
  EXPECT_EQ(meter.mean(), (MachineUsage{0, 500}));
}

TEST(UsageMeter, TellsChangesAtItsPaceAndTheSameNowAndThen) {
  UsageMeter meter;
  meter.add(at(seconds(10), 100, 300), kBegin);
  meter.add(at(seconds(20), 100, 300), kBegin + seconds(10));
  EXPECT_EQ(meter.news(kBegin + seconds(10)), (MachineUsage{100, 300}));
  EXPECT_FALSE(meter.news(kBegin + seconds(60))) << "nothing has changed";
  EXPECT_TRUE(meter.news(kBegin + seconds(130))) << "readers take old figures for none";
  meter.add({19'000, 40'000, 300}, kBegin + seconds(131));
  EXPECT_FALSE(meter.news(kBegin + seconds(131))) << "too soon";
  EXPECT_EQ(meter.news(kBegin + seconds(160)), (MachineUsage{600, 300}));
}

TEST(UsageMeter, BeginsAnewAfterAClockOrCountersWentBack) {
  UsageMeter meter;
  meter.add(at(minutes(5), 900, 300), kBegin);
  meter.add(at(seconds(1), 0, 300), kBegin + seconds(10));
  EXPECT_FALSE(meter.mean());
  meter.add(at(seconds(11), 0, 300), kBegin + seconds(20));
  EXPECT_EQ(meter.mean()->cpu, 0);
  meter.add(at(seconds(21), 0, 300), kBegin - minutes(1));
  EXPECT_FALSE(meter.mean());
}

TEST(UsageSample, ReadsWhatTheKernelSays) {
  const auto sample = usage_sample(
      "cpu  100 0 50 800 30 0 10 10 60 0\ncpu0 1 1 1 1 1 1 1 1\n",
      "MemTotal:        4000 kB\nMemFree:          100 kB\nMemAvailable:    1000 kB\n");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->all, 1000);
  EXPECT_EQ(sample->busy, 200);
  EXPECT_EQ(sample->memory, 750);
  EXPECT_FALSE(usage_sample("intr 1\n", "MemTotal: 1 kB\n"));
  EXPECT_FALSE(usage_sample("cpu  100 0\n", "MemTotal: 1 kB\nMemAvailable: 1 kB\n"));
  EXPECT_FALSE(usage_sample("cpu  1 2 3 4\n", "MemTotal: 1 kB\n"));
}

TEST(UsageText, IsWhatTheSchedulerReads) {
  const Result<Json> read = parse_json(usage_text({412, 305}, kBegin));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(text_at(*read, {"time"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(int_at(*read, {"cpu"}), 412);
  EXPECT_EQ(int_at(*read, {"memory"}), 305);
}

}  // namespace
}  // namespace krater::agent
