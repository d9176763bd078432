#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace krater {
namespace {

std::chrono::sys_days day_of(std::int64_t unix_seconds, std::int64_t* second_of_day) {
  std::int64_t days = unix_seconds / 86400;
  std::int64_t rest = unix_seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  *second_of_day = rest;
  return std::chrono::sys_days(std::chrono::days(days));
}

std::string date_and_time(std::int64_t unix_seconds) {
  std::int64_t rest = 0;
  const std::chrono::year_month_day ymd(day_of(unix_seconds, &rest));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                     rest / 3600, rest / 60 % 60, rest % 60);
}

// Reads exactly `width` digits at `at`.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t width) {
  if (at + width > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + width; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

}  // namespace

std::string to_rfc3339(WallTime time) {
  return date_and_time(time.unix_seconds()) + "Z";
}

std::string to_rfc3339_micro(WallTime time) {
  const std::int64_t seconds = time.unix_seconds();
  const std::int64_t micros = (time.unix_nanos() - seconds * 1'000'000'000) / 1000;
  return fmt::format("{}.{:06}Z", date_and_time(seconds), micros);
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(*year),
                                        std::chrono::month(static_cast<unsigned>(*month)),
                                        std::chrono::day(static_cast<unsigned>(*day))};
  if (!ymd.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::size_t at = 19;
  std::int64_t nanos = 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    std::int64_t scale = 100'000'000;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      if (at - first >= 9) return std::nullopt;
      nanos += (text[at] - '0') * scale;
      scale /= 10;
      ++at;
    }
    if (at == first) return std::nullopt;
  }
  std::int64_t offset_seconds = 0;
  if (at + 1 == text.size() && (text[at] == 'Z' || text[at] == 'z')) {
    // UTC
  } else if (at + 6 == text.size() && (text[at] == '+' || text[at] == '-') && text[at + 3] == ':') {
    const auto oh = digits(text, at + 1, 2), om = digits(text, at + 4, 2);
    if (!oh || !om || *oh > 23 || *om > 59) return std::nullopt;
    offset_seconds = (*oh * 3600 + *om * 60) * (text[at] == '-' ? -1 : 1);
  } else {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(ymd).time_since_epoch().count();
  const std::int64_t seconds =
      days * 86400 + *hour * 3600 + *minute * 60 + *second - offset_seconds;
  // int64 nanoseconds span the years 1678 to 2262.
  if (seconds < -9'200'000'000 || seconds > 9'200'000'000) return std::nullopt;
  return WallTime(seconds * 1'000'000'000 + nanos);
}

std::string human_duration(Duration age) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) {
    return seconds % 60 == 0 ? fmt::format("{}m", minutes)
                             : fmt::format("{}m{}s", minutes, seconds % 60);
  }
  if (minutes < 60 * 3) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) {
    return minutes % 60 == 0 ? fmt::format("{}h", hours)
                             : fmt::format("{}h{}m", hours, minutes % 60);
  }
  if (hours < 48) return fmt::format("{}h", hours);
  if (hours < 24 * 8) {
    return hours % 24 == 0 ? fmt::format("{}d", hours / 24)
                           : fmt::format("{}d{}h", hours / 24, hours % 24);
  }
  if (hours < 24 * 365 * 2) return fmt::format("{}d", hours / 24);
  if (hours < 24 * 365 * 8) {
    const std::int64_t days = hours / 24 % 365;
    return days == 0 ? fmt::format("{}y", hours / 24 / 365)
                     : fmt::format("{}y{}d", hours / 24 / 365, days);
  }
  return fmt::format("{}y", hours / 24 / 365);
}

std::optional<Duration> parse_go_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanos;
  };
  // Longer names first, so that "ms" is not read as "m".
  constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                        {"us", 1e3},
                                        {"\xc2\xb5s", 1e3},
                                        {"\xce\xbcs", 1e3},
                                        {"ms", 1e6},
                                        {"s", 1e9},
                                        {"m", 60e9},
                                        {"h", 3600e9}}};
  if (text == "0") return Duration(0);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    if (text[0] != '.' && (text[0] < '0' || text[0] > '9')) return std::nullopt;
    const auto parsed =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (parsed.ec != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (text.starts_with(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->nanos;
  }
  if (total > 9.2e18) return std::nullopt;
  const auto nanos = static_cast<std::int64_t>(total);
  return Duration(negative ? -nanos : nanos);
}

}  // namespace krater
