// Schedules of CronJobs: "minute hour day-of-month month day-of-week" with lists, ranges, steps and
// names, "@hourly" and its kin, "@every 90s". Pure.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/time_zone.h"

namespace krater {

class CronSchedule {
 public:
  // Code::BadRequest with the reason as Kubernetes gives it.
  static Result<CronSchedule> parse(std::string_view text);

  // The first moment after `time` that fits, in whole seconds; nothing within five years is
  // nothing. Local times that a clock change skips do not come; those it repeats come twice.
  std::optional<WallTime> next(WallTime time, const TimeZone& zone) const;
  // The last moment in (after, now], found without going through all that were missed.
  std::optional<WallTime> latest(WallTime after, WallTime now, const TimeZone& zone) const;

 private:
  static constexpr std::size_t kValues = 60;
  struct Field {
    std::bitset<kValues> values{};
    bool any = false;  // "*": does not restrict
  };
  struct Bounds;
  static Result<Field> parse_field(std::string_view text, const Bounds& bounds);
  static Result<Field> parse_range(std::string_view text, const Bounds& bounds);
  static Result<CronSchedule> named(std::string_view text);
  bool fits_day(std::int64_t local_days) const;

  Field minutes_{}, hours_{}, days_{}, months_{}, weekdays_{};
  std::optional<Duration> every_{};
};

}  // namespace krater
