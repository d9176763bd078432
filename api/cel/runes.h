// Text as code points, for functions that count in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krater::cel {

// Where each code point of valid UTF-8 starts, and the end: n + 1 offsets of n code points.
inline std::vector<std::size_t> rune_offsets(std::string_view text) {
  std::vector<std::size_t> out;
  out.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) out.push_back(i);
  }
  out.push_back(text.size());
  return out;
}

}  // namespace krater::cel
