#include "base/go_quote.h"

#include <fmt/format.h>

namespace krater {
namespace {

// The letter after the backslash, or 0 where there is none.
char short_escape(char c) {
  constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kTo = "abfnrtv\"\\";
  const std::size_t at = kFrom.find(c);
  return at == std::string_view::npos ? '\0' : kTo[at];
}

}  // namespace

std::string go_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const char letter = short_escape(c)) {
      out += '\\';
      out += letter;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace krater
