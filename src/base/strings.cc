#include "base/strings.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace krater {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode64(std::string_view bytes, std::string_view alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k <= count; ++k) out += alphabet[group >> (18 - 6 * k) & 63];
    if (padded) out.append(3 - count, '=');
  }
  return out;
}

std::optional<std::string> decode64(std::string_view text, std::string_view alphabet,
                                    bool padding_required) {
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  if (text.size() % 4 == 1) return std::nullopt;
  const std::size_t wanted = (4 - text.size() % 4) % 4;
  if (padding != wanted && (padding_required || padding != 0)) return std::nullopt;
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const int value = table[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view name) {
  if (name.empty() || !is_lower_alnum(name.front()) || !is_lower_alnum(name.back())) return false;
  for (char c : name) {
    if (!is_lower_alnum(c) && c != '-') return false;
  }
  return true;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  if (done.ec != std::errc() || done.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string base64_encode(std::string_view bytes) {
  return encode64(bytes, kStandard, true);
}
std::optional<std::string> base64_decode(std::string_view text) {
  return decode64(text, kStandard, true);
}
std::string base64url_encode(std::string_view bytes) {
  return encode64(bytes, kUrl, false);
}
std::optional<std::string> base64url_decode(std::string_view text) {
  return decode64(text, kUrl, false);
}

std::string hex_encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

std::string check_dns1123_label(std::string_view name) {
  if (name.size() > 63) return "must be no more than 63 characters";
  if (is_label(name)) return {};
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
         "and must start and "
         "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
         "validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

std::string check_dns1123_subdomain(std::string_view name) {
  if (name.size() > 253) return "must be no more than 253 characters";
  bool valid = true;
  for (std::string_view part : split(name, '.')) valid = valid && is_label(part);
  if (valid) return {};
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
         "or '.', and must "
         "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
         "validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

std::string check_dns1035_label(std::string_view name) {
  if (name.size() > 63) return "must be no more than 63 characters";
  if (is_label(name) && name.front() >= 'a') return {};
  return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
         "an alphabetic "
         "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex "
         "used for "
         "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
}

}  // namespace krater
