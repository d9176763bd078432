#include "api/cel/times.h"

#include <algorithm>
#include <array>

namespace krater::cel {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kNanos = 1'000'000'000;
constexpr std::int64_t kFirst = -62135596800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLast = 253402300799;   // 9999-12-31T23:59:59Z

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

bool is_leap(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int days_in(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

// Reads `count` digits from the front; -1 when they are not there.
int digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return out;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// ".123" to nanoseconds, cutting what is finer; nullopt when there is a dot without digits.
std::optional<std::int32_t> fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  std::int32_t nanos = 0;
  int count = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), ++count) {
    if (count < 9) nanos = nanos * 10 + (text[0] - '0');
  }
  if (count == 0) return std::nullopt;
  for (; count < 9; ++count) nanos *= 10;
  return nanos;
}

std::string padded(std::int64_t value, std::size_t width) {
  std::string out = std::to_string(value);
  if (out.size() < width) out.insert(0, width - out.size(), '0');
  return out;
}

// ".5" of 500000000; "" of 0.
std::string fraction_text(std::int64_t nanos) {
  if (nanos == 0) return "";
  std::string out = "." + padded(nanos, 9);
  out.erase(out.find_last_not_of('0') + 1);
  return out;
}

}  // namespace

bool in_range(std::int64_t unix_seconds) {
  return unix_seconds >= kFirst && unix_seconds <= kLast;
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  const int year = digits(text, 4);
  if (year < 0 || !take(text, '-')) return std::nullopt;
  const int month = digits(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return std::nullopt;
  const int day = digits(text, 2);
  if (day < 1 || day > days_in(year, month) || !take(text, 'T')) return std::nullopt;
  const int hour = digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return std::nullopt;
  const int minute = digits(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ':')) return std::nullopt;
  const int second = digits(text, 2);
  if (second < 0 || second > 59) return std::nullopt;
  const std::optional<std::int32_t> nanos = fraction(text);
  if (!nanos) return std::nullopt;
  std::int64_t offset = 0;
  if (!take(text, 'Z')) {
    const bool west = !text.empty() && text[0] == '-';
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const int hours = digits(text, 2);
    if (hours < 0 || hours > 24 || !take(text, ':')) return std::nullopt;
    const int minutes = digits(text, 2);
    if (minutes < 0 || minutes > 60) return std::nullopt;
    offset = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
  }
  if (!text.empty()) return std::nullopt;
  const std::int64_t seconds =
      days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
  return Timestamp{seconds, *nanos};
}

CivilTime civil_time(std::int64_t unix_seconds) {
  std::int64_t days = unix_seconds / 86400;
  std::int64_t rest = unix_seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  CivilTime out;
  out.hour = static_cast<int>(rest / 3600);
  out.minute = static_cast<int>(rest / 60 % 60);
  out.second = static_cast<int>(rest % 60);
  out.day_of_week = static_cast<int>(((days % 7) + 11) % 7);
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const std::int64_t day_of_era = shifted - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_part = (5 * day_of_year + 2) / 153;
  out.day = static_cast<int>(day_of_year - (153 * month_part + 2) / 5 + 1);
  out.month = static_cast<int>(month_part < 10 ? month_part + 3 : month_part - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  out.day_of_year = static_cast<int>(days - days_of(out.year, 1, 1));
  return out;
}

std::string text_of(Timestamp time) {
  const CivilTime civil = civil_time(time.seconds);
  return padded(civil.year, 4) + "-" + padded(civil.month, 2) + "-" + padded(civil.day, 2) + "T" +
         padded(civil.hour, 2) + ":" + padded(civil.minute, 2) + ":" + padded(civil.second, 2) +
         fraction_text(time.nanos) + "Z";
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t nanos;
  };
  // Longer names first, so that "ms" is not read as "m".
  constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                        {"us", 1'000},
                                        {"\xc2\xb5s", 1'000},
                                        {"\xce\xbcs", 1'000},
                                        {"ms", 1'000'000},
                                        {"s", kNanos},
                                        {"m", 60 * kNanos},
                                        {"h", 3600 * kNanos}}};
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  const Wide limit = static_cast<Wide>(INT64_MAX) + (negative ? 1 : 0);
  Wide total = 0;
  while (!text.empty()) {
    Wide whole = 0;
    Wide part = 0;
    Wide scale = 1;
    bool any = false;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
      any = true;
      whole = whole * 10 + (text[0] - '0');
      if (whole > limit) return std::nullopt;
    }
    if (take(text, '.')) {
      for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
        any = true;
        if (scale > static_cast<Wide>(kNanos) * kNanos) continue;  // finer than any nanosecond
        part = part * 10 + (text[0] - '0');
        scale *= 10;
      }
    }
    if (!any) return std::nullopt;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [text](const Unit& candidate) {
      return text.starts_with(candidate.name);
    });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += whole * unit->nanos + part * unit->nanos / scale;
    if (total > limit) return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? -total : total);
}

std::string duration_text(std::int64_t nanos) {
  const bool negative = nanos < 0;
  const Wide magnitude = negative ? -static_cast<Wide>(nanos) : static_cast<Wide>(nanos);
  return (negative ? "-" : "") + std::to_string(static_cast<std::int64_t>(magnitude / kNanos)) +
         fraction_text(static_cast<std::int64_t>(magnitude % kNanos)) + "s";
}

std::optional<Timestamp> add(Timestamp time, std::int64_t nanos) {
  const Wide sum = static_cast<Wide>(time.seconds) * kNanos + time.nanos + nanos;
  Wide seconds = sum / kNanos;
  Wide rest = sum % kNanos;
  if (rest < 0) {
    rest += kNanos;
    --seconds;
  }
  const auto whole = static_cast<std::int64_t>(seconds);
  if (!in_range(whole)) return std::nullopt;
  return Timestamp{whole, static_cast<std::int32_t>(rest)};
}

std::optional<std::int64_t> difference(Timestamp a, Timestamp b) {
  const Wide out = (static_cast<Wide>(a.seconds) - b.seconds) * kNanos + (a.nanos - b.nanos);
  if (out > INT64_MAX || out < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(out);
}

}  // namespace krater::cel
