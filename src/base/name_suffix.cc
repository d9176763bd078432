#include "base/name_suffix.h"

#include <string_view>

namespace krater {

std::string name_suffix(std::uint64_t hash, int length) {
  constexpr std::string_view kSafe = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < length; ++i, hash /= kSafe.size()) out += kSafe[hash % kSafe.size()];
  return out;
}

}  // namespace krater
