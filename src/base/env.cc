#include "base/env.h"

#include <fmt/format.h>

#include <atomic>

#include "base/check.h"

namespace krater {

std::uint64_t Rng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Rejection keeps the draw uniform; at most half of the draws are refused.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const std::uint64_t draw = next();
    if (draw < limit) return draw % bound;
  }
}

std::string Rng::suffix(std::size_t length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out(length, ' ');
  for (char& c : out) c = kAlphabet[below(kAlphabet.size())];
  return out;
}

std::string Rng::uuid() {
  const std::uint64_t a = next(), b = next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::uint64_t SeededRng::next() {
  std::uint64_t z =
      std::atomic_ref(state_).fetch_add(0x9e3779b97f4a7c15ULL) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace krater
