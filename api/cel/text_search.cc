#include "api/cel/text_search.h"

#include <cstring>
#include <vector>

namespace krater::cel {

std::size_t find_first(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  // The C library's search is linear, std::string_view's is not.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::size_t find_last(std::string_view text, std::string_view part, std::size_t latest) {
  // Knuth, Morris and Pratt, over all occurrences, the overlapping ones too.
  std::vector<std::size_t> border(part.size(), 0);
  for (std::size_t i = 1, k = 0; i < part.size(); ++i) {
    while (k > 0 && part[i] != part[k]) k = border[k - 1];
    if (part[i] == part[k]) ++k;
    border[i] = k;
  }
  std::size_t out = std::string_view::npos;
  for (std::size_t i = 0, k = 0; i < text.size(); ++i) {
    while (k > 0 && (k == part.size() || text[i] != part[k])) k = border[k - 1];
    if (text[i] == part[k]) ++k;
    if (k < part.size()) continue;
    const std::size_t start = i + 1 - part.size();
    if (start > latest) break;
    out = start;
  }
  return out;
}

}  // namespace krater::cel
