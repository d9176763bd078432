// Booleans as Go reads them (strconv.ParseBool), which is how Volcano reads its annotations.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

namespace krater {

constexpr std::optional<bool> parse_go_bool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

}  // namespace krater
