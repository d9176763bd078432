#include "agent/logs/cri.h"

#include <fmt/format.h>

namespace krater::agent {

std::string to_rfc3339_nano(WallTime time) {
  std::string out = to_rfc3339(time);
  out.pop_back();
  const std::int64_t fraction =
      ((time.unix_nanos() % 1'000'000'000) + 1'000'000'000) % 1'000'000'000;
  return out + fmt::format(".{:09}Z", fraction);
}

void append_record(std::string& out, WallTime time, std::string_view stream, bool full,
                   std::string_view text) {
  out += to_rfc3339_nano(time);
  out += ' ';
  out += stream;
  out += full ? " F " : " P ";
  out += text;
  out += '\n';
}

std::optional<LogRecord> parse_record(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  if (line.size() < second + 3 || line[second + 2] != ' ') return std::nullopt;
  const char tag = line[second + 1];
  if (tag != 'F' && tag != 'P') return std::nullopt;
  return LogRecord{line.substr(0, first), line.substr(first + 1, second - first - 1),
                   line.substr(second + 3), tag == 'F'};
}

}  // namespace krater::agent
