// The query of a request target: form-encoded pairs in their order. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace krater::api {

// `%41` decoded, and `+` as a space when `form`. nullopt for a broken escape.
std::optional<std::string> percent_decode(std::string_view text, bool form);

class Query {
 public:
  // Code::BadRequest for a broken escape.
  static Result<Query> parse(std::string_view text);

  // The first value of that name; "" when absent.
  std::string_view first(std::string_view name) const;
  bool has(std::string_view name) const;
  // In their order, duplicates too.
  std::vector<std::string> all(std::string_view name) const;
  // Absent, `false` (any case) and `0` are false; anything else, also an empty value, is true.
  bool flag(std::string_view name) const;
  // Absent or empty: nullopt. Code::BadRequest when it is no integer, or negative while `minimum`
  // is 0.
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t minimum) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace krater::api
