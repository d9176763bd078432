#include "base/cron_schedule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/strings.h"

namespace krater {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;
constexpr std::int64_t kSearched = 5 * 366 * kDay;

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

Error bad(std::string why) {
  return make_error(Code::BadRequest, std::move(why));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

}  // namespace

struct CronSchedule::Bounds {
  std::int64_t low = 0, high = 0;
  std::span<const std::string_view> names{};  // the first stands for `low`

  Result<std::int64_t> value(std::string_view text) const {
    const std::string lower = to_lower(text);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == lower) return low + static_cast<std::int64_t>(i);
    }
    const auto number = parse_int(text);
    if (!number) {
      return bad("failed to parse int from " + std::string(text) + ": strconv.Atoi: parsing \"" +
                 std::string(text) + "\": invalid syntax");
    }
    if (*number < 0) {
      return bad("negative number (" + std::to_string(*number) +
                 ") not allowed: " + std::string(text));
    }
    return *number;
  }
};

// "*", "5", "1-5", each with "/step".
Result<CronSchedule::Field> CronSchedule::parse_range(std::string_view text, const Bounds& bounds) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() > 2) return bad("too many slashes: " + std::string(text));
  const std::vector<std::string_view> ends = split(parts[0], '-');
  if (ends.size() > 2) return bad("too many hyphens: " + std::string(text));
  Field out;
  std::int64_t low = bounds.low, high = bounds.high, step = 1;
  const bool all = ends[0] == "*" || ends[0] == "?";
  if (all) {
    if (ends.size() > 1) return bad("too many hyphens: " + std::string(text));
    out.any = true;
  } else {
    TRY_ASSIGN(low, bounds.value(ends[0]));
    high = low;
    if (ends.size() == 2) {
      TRY_ASSIGN(high, bounds.value(ends[1]));
    }
  }
  if (parts.size() == 2) {
    TRY_ASSIGN(step, Bounds{}.value(parts[1]));
    if (ends.size() == 1) high = bounds.high;
    if (step > 1) out.any = false;
  }
  const auto shown = [&](std::string_view what, std::int64_t value, std::string_view how,
                         std::int64_t limit) {
    return bad(std::string(what) + " (" + std::to_string(value) + ") " + std::string(how) + " (" +
               std::to_string(limit) + "): " + std::string(text));
  };
  if (low < bounds.low) return shown("beginning of range", low, "below minimum", bounds.low);
  if (high > bounds.high) return shown("end of range", high, "above maximum", bounds.high);
  if (low > high) return shown("beginning of range", low, "beyond end of range", high);
  if (step == 0) return bad("step of range should be a positive number: " + std::string(text));
  for (std::int64_t value = low; value <= high; value += step)
    out.values.set(static_cast<std::size_t>(value));
  return out;
}

Result<CronSchedule::Field> CronSchedule::parse_field(std::string_view text, const Bounds& bounds) {
  Field out;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) continue;
    TRY_ASSIGN(const Field one, parse_range(part, bounds));
    out.values |= one.values;
    out.any = out.any || one.any;
  }
  return out;
}

Result<CronSchedule> CronSchedule::named(std::string_view text) {
  struct Name {
    std::string_view name, fields;
  };
  constexpr std::array kNames{Name{"@yearly", "0 0 1 1 *"},  Name{"@annually", "0 0 1 1 *"},
                              Name{"@monthly", "0 0 1 * *"}, Name{"@weekly", "0 0 * * 0"},
                              Name{"@daily", "0 0 * * *"},   Name{"@midnight", "0 0 * * *"},
                              Name{"@hourly", "0 * * * *"}};
  for (const Name& name : kNames) {
    if (name.name == text) return parse(name.fields);
  }
  constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) return bad("unrecognized descriptor: " + std::string(text));
  const auto duration = parse_go_duration(text.substr(kEvery.size()));
  if (!duration) {
    return bad("failed to parse duration " + std::string(text) + ": time: invalid duration \"" +
               std::string(text.substr(kEvery.size())) + "\"");
  }
  CronSchedule out;
  out.every_ = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(*duration),
                                  std::chrono::seconds(1));
  return out;
}

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  if (text.empty()) return bad("empty spec string");
  if (text.front() == '@') return named(text);
  const std::vector<std::string_view> fields = words(text);
  if (fields.size() != 5) {
    std::vector<std::string> shown(fields.begin(), fields.end());
    return bad("expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" +
               join(shown, " ") + "]");
  }
  CronSchedule out;
  TRY_ASSIGN(out.minutes_, parse_field(fields[0], {0, 59, {}}));
  TRY_ASSIGN(out.hours_, parse_field(fields[1], {0, 23, {}}));
  TRY_ASSIGN(out.days_, parse_field(fields[2], {1, 31, {}}));
  TRY_ASSIGN(out.months_, parse_field(fields[3], {1, 12, kMonths}));
  TRY_ASSIGN(out.weekdays_, parse_field(fields[4], {0, 6, kWeekdays}));
  return out;
}

bool CronSchedule::fits_day(std::int64_t local_days) const {
  const std::chrono::sys_days date{std::chrono::days(local_days)};
  const std::chrono::year_month_day civil{date};
  if (!months_.values.test(static_cast<unsigned>(civil.month()))) return false;
  const bool day = days_.values.test(static_cast<unsigned>(civil.day()));
  const bool weekday = weekdays_.values.test(std::chrono::weekday{date}.c_encoding());
  // Two restrictions are alternatives, as cron has always had it.
  return days_.any || weekdays_.any ? day && weekday : day || weekday;
}

std::optional<WallTime> CronSchedule::next(WallTime time, const TimeZone& zone) const {
  if (every_) return WallTime::from_unix_seconds(time.unix_seconds()) + *every_;
  const std::int64_t start = floor_div(time.unix_seconds(), kMinute) * kMinute + kMinute;
  // Strides to the next day, hour or minute of the local clock; what a clock change does to it is
  // seen at the next look, since a stride never skips more than the rest of what did not fit.
  for (std::int64_t at = start; at < start + kSearched;) {
    const std::int64_t local = at + zone.offset_s(WallTime::from_unix_seconds(at));
    const std::int64_t day = floor_div(local, kDay), second = local - day * kDay;
    if (!fits_day(day)) {
      // At most to the next full hour while clocks may change before midnight.
      at += second < kDay - 3 * kHour ? kDay - 3 * kHour - second : kHour - second % kHour;
    } else if (!hours_.values.test(static_cast<std::size_t>(second / kHour))) {
      at += kHour - second % kHour;
    } else if (!minutes_.values.test(static_cast<std::size_t>(second % kHour / kMinute))) {
      at += kMinute - second % kMinute;
    } else {
      return WallTime::from_unix_seconds(at - second % kMinute);
    }
  }
  return std::nullopt;
}

std::optional<WallTime> CronSchedule::latest(WallTime after, WallTime now,
                                             const TimeZone& zone) const {
  const std::optional<WallTime> first = next(after, zone);
  if (!first || *first > now) return std::nullopt;
  if (every_) {
    const std::int64_t more = (now - *first) / *every_;
    return *first + *every_ * more;
  }
  // Look back over ever longer times until something is found; the first is there at the latest.
  for (Duration back = std::chrono::minutes(2);; back *= 4) {
    const bool whole = now - back <= *first;
    std::optional<WallTime> found;
    std::optional<WallTime> at = whole ? first : next(now - back, zone);
    for (; at && *at <= now; at = next(*at, zone)) found = at;
    if (found || whole) return found;
  }
}

}  // namespace krater
