// The annotation volcano.sh/overcommit-factor of a Queue: how much more than it deserves may be
// admitted to it, waiting or running. A plain decimal number of at least 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace krater::keys {
inline constexpr std::string_view kOvercommitFactor = "volcano.sh/overcommit-factor";
}  // namespace krater::keys

namespace krater {

// Times 1000, rounded down; at most a million. nullopt: no such number.
constexpr std::optional<std::int64_t> overcommit_per_mille(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t whole = 0, thousandths = 0, unit = 1000;
  const std::size_t point = text.find('.');
  const std::string_view before = text.substr(0, point);
  const std::string_view after =
      point == std::string_view::npos ? std::string_view("0") : text.substr(point + 1);
  if (before.empty() || after.empty()) return std::nullopt;
  for (const char c : before) {
    if (c < '0' || c > '9') return std::nullopt;
    whole = whole * 10 + (c - '0');
    if (whole * 1000 > kMost) return std::nullopt;
  }
  for (const char c : after) {
    if (c < '0' || c > '9') return std::nullopt;
    unit /= 10;
    thousandths += (c - '0') * unit;
  }
  const std::int64_t out = whole * 1000 + thousandths;
  return out < 1000 || out > kMost ? std::nullopt : std::optional(out);
}

}  // namespace krater
