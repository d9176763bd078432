#include "api/machinery/custom/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/strings.h"
#include "base/time.h"

namespace krater::api {
namespace {

bool matches(std::string_view text, const re2::RE2& pattern) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

// One expression a format; compiled once.
#define KRATER_FORMAT_PATTERN(name, text)                 \
  bool name(std::string_view value) {                     \
    static const re2::RE2 pattern(text, re2::RE2::Quiet); \
    return matches(value, pattern);                       \
  }

KRATER_FORMAT_PATTERN(is_object_id, "[0-9a-fA-F]{24}")
KRATER_FORMAT_PATTERN(is_uuid,
                      "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
KRATER_FORMAT_PATTERN(is_uuid3,
                      "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}")
KRATER_FORMAT_PATTERN(is_uuid4,
                      "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
KRATER_FORMAT_PATTERN(is_uuid5,
                      "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
KRATER_FORMAT_PATTERN(
    is_mac,
    "(?i)([0-9a-f]{2}:){5}[0-9a-f]{2}|([0-9a-f]{2}-){5}[0-9a-f]{2}|([0-9a-f]{4}\\.){2}[0-9a-f]{4}|("
    "[0-9a-f]{2}[:-]){7}[0-9a-f]{2}|([0-9a-f]{2}[:-]){19}[0-9a-f]{2}")
KRATER_FORMAT_PATTERN(is_hex_color, "#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
KRATER_FORMAT_PATTERN(
    is_rgb_color,
    "rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25["
    "0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)")
KRATER_FORMAT_PATTERN(is_social_number, "\\d{3}[- ]?\\d{2}[- ]?\\d{4}")
KRATER_FORMAT_PATTERN(
    is_base64, "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
KRATER_FORMAT_PATTERN(is_card_pattern,
                      "4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47]["
                      "0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11}")
KRATER_FORMAT_PATTERN(
    is_host_pattern,
    "[a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-"
    "Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63}")
KRATER_FORMAT_PATTERN(is_go_duration,
                      "[-+]?(?:0|(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:["
                      "0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))*)")
KRATER_FORMAT_PATTERN(
    is_long_duration,
    "(?i)\\s*\\d+\\s*(?:d|day|days|h|hr|hrs|hour|hours|m|min|mins|minute|minutes|s|sec|secs|second|"
    "seconds|ms|milli|millis|milliseconds|us|micro|micros|microseconds|µs|ns|nano|nanos|"
    "nanoseconds|w|wk|week|weeks|hs)(?:\\s+\\d+\\s*(?:d|day|days|h|hr|hrs|hour|hours|m|min|minute|"
    "minutes|s|sec|second|seconds|ms|milli|micro|nano|ns|us))*\\s*")
KRATER_FORMAT_PATTERN(
    is_email,
    "(?:[^<>\"]*<)?(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10ffff}-]+(?:\\.[A-Za-z0-9!#$%&'*+/"
    "=?^_`{|}~\\x{80}-\\x{10ffff}-]+)*|\"[^\"\\n]+\")@(?:[A-Za-z0-9!#$%&'*+/"
    "=?^_`{|}~\\x{80}-\\x{10ffff}-]+(?:\\.[A-Za-z0-9!#$%&'*+/"
    "=?^_`{|}~\\x{80}-\\x{10ffff}-]+)*|\\[[^\\[\\]\\\\]*\\])>?")
KRATER_FORMAT_PATTERN(is_uri,
                      "(?:[A-Za-z][A-Za-z0-9+.-]*:[^\\x00-\\x20\\x7f]+|/[^\\x00-\\x20\\x7f]*)")
KRATER_FORMAT_PATTERN(is_date_pattern, "\\d{4}-\\d{2}-\\d{2}")

#undef KRATER_FORMAT_PATTERN

std::string digits_of(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c >= '0' && c <= '9'; });
  return out;
}

bool is_credit_card(std::string_view text) {
  const std::string digits = digits_of(text);
  if (!is_card_pattern(digits)) return false;
  int sum = 0;
  bool doubled = false;
  for (auto at = digits.rbegin(); at != digits.rend(); ++at, doubled = !doubled) {
    int value = *at - '0';
    if (doubled) value = value * 2 > 9 ? value * 2 - 9 : value * 2;
    sum += value;
  }
  return sum % 10 == 0;
}

std::string without_separators(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != '-' && c != ' '; });
  return out;
}

bool is_isbn10(std::string_view text) {
  const std::string number = without_separators(text);
  if (number.size() != 10) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const char c = number[static_cast<std::size_t>(i)];
    const bool tenth = i == 9 && (c == 'X' || c == 'x');
    if (!tenth && (c < '0' || c > '9')) return false;
    sum += (i + 1) * (tenth ? 10 : c - '0');
  }
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view text) {
  const std::string number = without_separators(text);
  if (number.size() != 13 || digits_of(number) != number) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 13; ++i) sum += (number[i] - '0') * (i % 2 == 0 ? 1 : 3);
  return sum % 10 == 0;
}

bool is_isbn(std::string_view text) {
  return is_isbn10(text) || is_isbn13(text);
}

bool is_address(int family, std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

bool is_ipv4(std::string_view text) {
  return is_address(AF_INET, text);
}
bool is_ipv6(std::string_view text) {
  return is_address(AF_INET6, text);
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const auto bits = parse_int(text.substr(slash + 1));
  if (!bits || *bits < 0) return false;
  return (is_ipv4(address) && *bits <= 32) || (is_ipv6(address) && *bits <= 128);
}

bool is_hostname(std::string_view text) {
  if (text.size() > 255 || !is_host_pattern(text)) return false;
  const std::vector<std::string_view> labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(),
                     [](std::string_view label) { return label.size() <= 63; });
}

bool is_date(std::string_view text) {
  return is_date_pattern(text) && parse_rfc3339(std::string(text) + "T00:00:00Z").has_value();
}

bool is_date_time(std::string_view text) {
  return parse_rfc3339(text).has_value();
}

bool is_duration(std::string_view text) {
  return is_go_duration(text) || is_long_duration(text);
}

bool is_anything(std::string_view) {
  return true;
}

struct Format {
  std::string_view name;
  bool (*check)(std::string_view);
};
// Names without dashes, as the original normalizes them.
constexpr std::array kFormats{
    Format{"bsonobjectid", is_object_id},
    Format{"byte", is_base64},
    Format{"cidr", is_cidr},
    Format{"creditcard", is_credit_card},
    Format{"date", is_date},
    Format{"datetime", is_date_time},
    Format{"duration", is_duration},
    Format{"email", is_email},
    Format{"hexcolor", is_hex_color},
    Format{"hostname", is_hostname},
    Format{"ipv4", is_ipv4},
    Format{"ipv6", is_ipv6},
    Format{"isbn", is_isbn},
    Format{"isbn10", is_isbn10},
    Format{"isbn13", is_isbn13},
    Format{"mac", is_mac},
    Format{"password", is_anything},
    Format{"rgbcolor", is_rgb_color},
    Format{"ssn", is_social_number},
    Format{"uri", is_uri},
    Format{"uuid", is_uuid},
    Format{"uuid3", is_uuid3},
    Format{"uuid4", is_uuid4},
    Format{"uuid5", is_uuid5},
};

const Format* find_format(std::string_view written) {
  std::string name;
  std::copy_if(written.begin(), written.end(), std::back_inserter(name),
               [](char c) { return c != '-'; });
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const Format& format) { return format.name == name; });
  return found == kFormats.end() ? nullptr : &*found;
}

}  // namespace

bool is_known_format(JsonType type, std::string_view format) {
  if (format.empty()) return false;
  switch (type) {
    case JsonType::None:
    case JsonType::String:
      return find_format(format) != nullptr;
    case JsonType::Integer:
      return format == "int32" || format == "int64";
    case JsonType::Number:
      return format == "float" || format == "double";
    case JsonType::Object:
    case JsonType::Array:
    case JsonType::Boolean:
      return false;
  }
  return false;
}

bool has_format(std::string_view format, std::string_view text) {
  const Format* found = find_format(format);
  return found == nullptr || found->check(text);
}

}  // namespace krater::api
