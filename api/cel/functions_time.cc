// The parts of timestamps and durations.
#include "api/cel/functions.h"
#include "api/cel/times.h"
#include "base/strings.h"
#include "base/time_zone.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

// Seconds east of UTC: "+02:00", "-08:30", "Europe/Vienna".
Result<std::int64_t> offset_of(const std::string& zone, Timestamp time) {
  const std::size_t colon = zone.find(':');
  if (colon == std::string::npos) {
    const Result<TimeZone> found = TimeZone::find(zone.empty() ? "UTC" : zone);
    if (!found) return found.error();
    return found->offset_s(WallTime::from_unix_seconds(time.seconds));
  }
  std::string_view hour_text = std::string_view(zone).substr(0, colon);
  const bool west = hour_text.starts_with('-');
  if (west || hour_text.starts_with('+')) hour_text.remove_prefix(1);
  const std::optional<std::int64_t> hours = parse_int(hour_text);
  const std::optional<std::int64_t> minutes = parse_int(std::string_view(zone).substr(colon + 1));
  if (!hours || !minutes || *hours < 0 || *hours > 1000) {
    return make_error(Code::BadRequest, "strconv.Atoi: parsing \"" + zone + "\": invalid syntax");
  }
  if (*minutes < 0 || *minutes > 59) {
    return make_error(Code::BadRequest, "timezone offset minutes out of range [0, 59]: " + zone);
  }
  return (*hours * 60 + *minutes) * 60 * (west ? -1 : 1);
}

template <typename Part>
Value part_of_time(Args args, Part part) {
  if (args[0].kind() != Kind::Timestamp) return no_such_overload();
  std::int64_t offset = 0;
  if (args.size() == 2) {
    if (args[1].kind() != Kind::String) return no_such_overload();
    const Result<std::int64_t> found =
        offset_of(std::string(args[1].text()), args[0].as_timestamp());
    if (!found) return Value::error(found.error().message);
    offset = *found;
  }
  return Value::of(
      static_cast<std::int64_t>(part(civil_time(args[0].as_timestamp().seconds + offset))));
}

bool is_duration(Args args) {
  return args.size() == 1 && args[0].kind() == Kind::Duration;
}

Value per(const Value& duration, std::int64_t unit) {
  return Value::of(duration.as_nanos() / unit);
}

}  // namespace

Value call_get_full_year(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.year; });
}
Value call_get_month(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.month - 1; });
}
Value call_get_date(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.day; });
}
Value call_get_day_of_month(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.day - 1; });
}
Value call_get_day_of_week(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.day_of_week; });
}
Value call_get_day_of_year(Args args) {
  return part_of_time(args, [](const CivilTime& time) { return time.day_of_year; });
}
Value call_get_hours(Args args) {
  if (is_duration(args)) return per(args[0], 3'600'000'000'000);
  return part_of_time(args, [](const CivilTime& time) { return time.hour; });
}
Value call_get_minutes(Args args) {
  if (is_duration(args)) return per(args[0], 60'000'000'000);
  return part_of_time(args, [](const CivilTime& time) { return time.minute; });
}
Value call_get_seconds(Args args) {
  if (is_duration(args)) return per(args[0], 1'000'000'000);
  return part_of_time(args, [](const CivilTime& time) { return time.second; });
}
Value call_get_milliseconds(Args args) {
  if (is_duration(args)) return per(args[0], 1'000'000);
  const Value checked = part_of_time(args, [](const CivilTime&) { return 0; });
  if (checked.is_error()) return checked;
  return Value::of(static_cast<std::int64_t>(args[0].as_timestamp().nanos / 1'000'000));
}

}  // namespace krater::cel
