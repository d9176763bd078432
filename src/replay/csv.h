// Comma separated values as RFC 4180 has them: fields in quotes may hold commas, quotes (twice) and
// line ends. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater::replay {

struct CsvRow {
  std::size_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields{};
};

// Rows without anything in them, and those that begin with '#', are left out. Fields without quotes
// are trimmed. Code::BadRequest with the line for quotes that do not end, or do not end their
// field.
Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace krater::replay
