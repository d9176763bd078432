#include "base/int_or_percent.h"

#include <algorithm>

#include "base/strings.h"

namespace krater {
namespace {

constexpr std::size_t kMaxDigits = 9;

}  // namespace

bool is_percent(std::string_view text) {
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  return !text.empty() && text.size() <= kMaxDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> int_or_percent(const Json* value, std::int64_t whole,
                                           Rounding rounding) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return as_int(*value);
  if (!value->is_string() || !is_percent(view(value->get_string()))) return std::nullopt;
  std::string_view text = view(value->get_string());
  text.remove_suffix(1);
  const std::int64_t share = *parse_int(text) * whole;
  return rounding == Rounding::Up ? (share + 99) / 100 : share / 100;
}

}  // namespace krater
