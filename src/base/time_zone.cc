#include "base/time_zone.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace krater {

Result<TimeZone> TimeZone::find(const std::string& name) {
  const Error unknown = make_error(Code::NotFound, "unknown time zone " + name);
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) return unknown;
  TimeZone out;
  try {
    out.zone_ = date::locate_zone(name);
    (void)out.offset_s(WallTime());  // the file is read at the first use
  } catch (const std::exception&) {
    return unknown;
  }
  return out;
}

TimeZone TimeZone::local() {
  TimeZone out;
  try {
    out.zone_ = date::current_zone();
    (void)out.offset_s(WallTime());
  } catch (const std::exception&) {
    out.zone_ = nullptr;
  }
  return out;
}

std::int64_t TimeZone::offset_s(WallTime time) const {
  if (zone_ == nullptr) return 0;
  const date::sys_seconds at{std::chrono::seconds(time.unix_seconds())};
  return static_cast<const date::time_zone*>(zone_)->get_info(at).offset.count();
}

std::string to_rfc3339(WallTime time, std::int64_t offset_s) {
  if (offset_s == 0) return to_rfc3339(time);
  std::string out = to_rfc3339(time + std::chrono::seconds(offset_s));
  out.pop_back();  // the Z
  const std::int64_t minutes = std::abs(offset_s) / 60;
  return out + fmt::format("{}{:02}:{:02}", offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

}  // namespace krater
