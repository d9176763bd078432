// Timestamps and durations of the expression language: their text forms, and arithmetic that says
// when it leaves the range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/cel/value.h"

namespace krater::cel {

// RFC 3339, any offset, up to nine digits of fraction; years 1 to 9999 (after the offset).
std::optional<Timestamp> parse_timestamp(std::string_view text);
// "2026-11-30T12:00:00.5Z": as many digits of fraction as needed.
std::string text_of(Timestamp time);
// As Go's time.ParseDuration, exactly: "1h30m", "-1.5s".
std::optional<std::int64_t> parse_duration(std::string_view text);
// Seconds: "5400s", "0.5s".
std::string duration_text(std::int64_t nanos);

bool in_range(std::int64_t unix_seconds);
// nullopt: out of range.
std::optional<Timestamp> add(Timestamp time, std::int64_t nanos);
std::optional<std::int64_t> difference(Timestamp a, Timestamp b);

struct CivilTime {
  std::int64_t year = 1970;
  int month = 1, day = 1;  // from 1
  int hour = 0, minute = 0, second = 0;
  int day_of_week = 4;  // Sunday is 0
  int day_of_year = 0;  // from 0
};
CivilTime civil_time(std::int64_t unix_seconds);

}  // namespace krater::cel
