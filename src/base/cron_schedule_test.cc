// Each case: a schedule, a moment, and the next ones.
#include "base/cron_schedule.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace krater {
namespace {

WallTime at(std::string_view text) {
  const auto out = parse_rfc3339(text);
  EXPECT_TRUE(out.has_value()) << text;
  return out.value_or(WallTime());
}

TEST(CronSchedule, FindsTheNextMoments) {
  const struct {
    std::string_view schedule, zone, from, want;
  } cases[] = {
      {"* * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z"},
      {"* * * * *", "UTC", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"},
      {"*/15 * * * *", "UTC", "2026-01-01T00:50:00Z", "2026-01-01T01:00:00Z 2026-01-01T01:15:00Z"},
      {"5/20 3 * * *", "UTC", "2026-01-01T03:05:00Z",
       "2026-01-01T03:25:00Z 2026-01-01T03:45:00Z 2026-01-02T03:05:00Z"},
      {"0 9-17/4 * * mon-fri", "UTC", "2026-01-02T13:00:00Z",
       "2026-01-02T17:00:00Z 2026-01-05T09:00:00Z"},
      {"0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"0 0 31 * *", "UTC", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
      // Day and weekday are alternatives when both are given …
      {"0 0 13 * 5", "UTC", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z 2026-03-13T00:00:00Z"},
      // … and a step restricts, a star does not.
      {"0 0 */10 * *", "UTC", "2026-01-02T00:00:00Z", "2026-01-11T00:00:00Z 2026-01-21T00:00:00Z"},
      {"0 0 1 JAN,Jul ?", "UTC", "2026-02-01T00:00:00Z", "2026-07-01T00:00:00Z"},
      {"@hourly", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
      {"@weekly", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
      {"@every 90s", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z 2026-01-01T00:03:00Z"},
      {"0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", ""},
      {"0 6 * * *", "Europe/Vienna", "2026-01-01T05:00:00Z", "2026-01-02T05:00:00Z"},
      {"0 6 * * *", "Europe/Vienna", "2026-03-28T12:00:00Z", "2026-03-29T04:00:00Z"},
      {"30 5 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
      // 02:30 does not exist on the day the clock goes forward, and comes twice when it goes back.
      {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-09T06:30:00Z"},
      {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
       "2026-11-01T05:30:00Z 2026-11-01T06:30:00Z 2026-11-02T06:30:00Z"},
      // Midnight itself is skipped in some places.
      {"0 1 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
  };
  for (const auto& item : cases) {
    const Result<CronSchedule> schedule = CronSchedule::parse(item.schedule);
    ASSERT_TRUE(schedule.has_value()) << item.schedule;
    const Result<TimeZone> zone = TimeZone::find(std::string(item.zone));
    ASSERT_TRUE(zone.has_value()) << item.zone;
    std::optional<WallTime> moment = at(item.from);
    if (item.want.empty()) {
      EXPECT_FALSE(schedule->next(*moment, *zone).has_value()) << item.schedule;
      continue;
    }
    for (const std::string_view want : split(item.want, ' ')) {
      moment = schedule->next(*moment, *zone);
      ASSERT_TRUE(moment.has_value()) << item.schedule;
      EXPECT_EQ(to_rfc3339(*moment), want) << item.schedule << " in " << item.zone;
    }
  }
}

TEST(CronSchedule, TheLatestMissedMomentIsFoundAtOnce) {
  const struct {
    std::string_view schedule, after, now, want;
  } cases[] = {
      {"* * * * *", "2020-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:00Z"},
      {"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:00:59Z", ""},
      {"0 9 * * 1-5", "2026-01-01T00:00:00Z", "2026-01-04T12:00:00Z", "2026-01-02T09:00:00Z"},
      {"@yearly", "2020-06-01T00:00:00Z", "2026-05-01T00:00:00Z", "2026-01-01T00:00:00Z"},
      {"@every 1h", "2026-01-01T00:10:00Z", "2026-01-01T05:00:00Z", "2026-01-01T04:10:00Z"},
      {"0 0 29 2 *", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z", ""},
  };
  for (const auto& item : cases) {
    const Result<CronSchedule> schedule = CronSchedule::parse(item.schedule);
    ASSERT_TRUE(schedule.has_value()) << item.schedule;
    const auto found = schedule->latest(at(item.after), at(item.now), TimeZone());
    EXPECT_EQ(found ? to_rfc3339(*found) : "", item.want) << item.schedule;
  }
}

TEST(CronSchedule, RefusesWithTheReason) {
  const struct {
    std::string_view schedule, error;
  } cases[] = {
      {"", "empty spec string"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
      {"@sometimes", "unrecognized descriptor: @sometimes"},
      {"@every long", "failed to parse duration @every long: time: invalid duration \"long\""},
  };
  for (const auto& item : cases) {
    const Result<CronSchedule> schedule = CronSchedule::parse(item.schedule);
    ASSERT_FALSE(schedule.has_value()) << item.schedule;
    EXPECT_EQ(schedule.error().message, item.error);
  }
}

TEST(TimeZone, UnknownNamesAreRefused) {
  for (const std::string name : {"", "Mars/Base", "/etc/passwd", "../UTC"}) {
    const Result<TimeZone> zone = TimeZone::find(name);
    ASSERT_FALSE(zone.has_value()) << name;
    EXPECT_EQ(zone.error().message, "unknown time zone " + name);
  }
  EXPECT_EQ(TimeZone::find("Asia/Kolkata")->offset_s(at("2026-01-01T00:00:00Z")), 19800);
}

}  // namespace
}  // namespace krater
