// Time zones of the system's database, by name. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace krater {

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // "Europe/Vienna", "UTC". Code::NotFound `unknown time zone x`.
  static Result<TimeZone> find(const std::string& name);
  // What TZ or /etc/localtime says; UTC when neither can be read.
  static TimeZone local();

  // Seconds to add to UTC at that moment.
  std::int64_t offset_s(WallTime time) const;

 private:
  const void* zone_ = nullptr;  // of the database, which lives as long as the process
};

// "2026-01-01T06:00:00+01:00", whole seconds; "Z" for an offset of 0.
std::string to_rfc3339(WallTime time, std::int64_t offset_s);

}  // namespace krater
