#include "api/server/query.h"

#include "base/strings.h"

namespace krater::api {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool form) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && form) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
      if (low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

Result<Query> Query::parse(std::string_view text) {
  Query out;
  if (text.empty()) return out;
  for (const std::string_view pair : split(text, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const auto name = percent_decode(pair.substr(0, equals), true);
    const auto value = percent_decode(
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!name || !value)
      return make_error(Code::BadRequest,
                        "invalid URL escape in the query: \"" + std::string(pair) + "\"");
    out.pairs_.emplace_back(*name, *value);
  }
  return out;
}

std::string_view Query::first(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::has(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return true;
  }
  return false;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : pairs_) {
    if (key == name) out.push_back(value);
  }
  return out;
}

bool Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  const std::string value = to_lower(first(name));
  return value != "false" && value != "0";
}

Result<std::optional<std::int64_t>> Query::integer(std::string_view name,
                                                   std::int64_t minimum) const {
  const std::string_view text = first(name);
  if (text.empty()) return std::optional<std::int64_t>();
  const std::optional<std::int64_t> number = parse_int(text);
  if (!number || *number < minimum) {
    return make_error(Code::BadRequest, "invalid value for parameter " + std::string(name) +
                                            ": \"" + std::string(text) + "\"");
  }
  return number;
}

}  // namespace krater::api
