#include "base/utf8.h"

#include <algorithm>
#include <cstddef>

namespace krater {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

// How many bytes the character takes that `bytes` begins with; 0: it begins with none. Overlong
// forms, surrogates and what lies above U+10FFFF are no characters.
std::size_t character_length(std::string_view bytes) {
  const unsigned first = byte_at(bytes, 0);
  if (first < 0x80) return 1;
  unsigned low = 0x80, high = 0xBF;  // of the second byte
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || byte_at(bytes, 1) < low || byte_at(bytes, 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_at(bytes, i) < 0x80 || byte_at(bytes, i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    out += length > 0 ? bytes.substr(0, length) : kReplacement;
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace krater
