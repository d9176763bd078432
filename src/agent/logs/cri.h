// The log format on disk, as CRI runtimes write it: one line a record,
//   2026-11-29T12:00:00.123456789Z stdout F the text
// F ends a line of the program's output, P does not (a very long line, or an end without newline).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace krater::agent {

// Nine digits of fraction, so that texts sort as times do.
std::string to_rfc3339_nano(WallTime time);

// Appends one record; `text` has no newline.
void append_record(std::string& out, WallTime time, std::string_view stream, bool full,
                   std::string_view text);

struct LogRecord {
  std::string_view time, stream, text;
  bool full = true;
};
// `line` without its newline; nullopt when it is no record.
std::optional<LogRecord> parse_record(std::string_view line);

// A longer line of output is split into P records of this size.
inline constexpr std::size_t kMaxRecordText = 16 << 10;

}  // namespace krater::agent
