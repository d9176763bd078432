// Bytes read as decisions: what generators of random things are driven by, so that the same bytes
// always make the same thing and a fuzzer can steer by changing them. When the bytes are used up
// every further choice is the first one, so whatever is generated comes to an end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/env.h"

namespace krater::api::testing {

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  // In [0, count); count > 0. One byte for up to 256, else two.
  std::size_t below(std::size_t count) {
    std::size_t value = byte();
    if (count > 256) value = value << 8 | byte();
    return value % count;
  }
  // True for one of `count` choices, never for the first one.
  bool one_in(std::size_t count) { return below(count) == count - 1; }
  std::string_view take(std::size_t length) {
    const std::string_view out = bytes_.substr(at_, length);
    at_ += out.size();
    return out;
  }
  bool used_up() const { return at_ >= bytes_.size(); }
  template <typename List>
  auto& any_of(List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

 private:
  std::size_t byte() { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

inline std::string random_bytes(std::uint64_t seed, std::size_t length) {
  SeededRng rng(seed);
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out.push_back(static_cast<char>(rng.next() >> 32));
  return out;
}

}  // namespace krater::api::testing
