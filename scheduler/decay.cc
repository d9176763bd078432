#include "scheduler/decay.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace krater::scheduler {
namespace {

constexpr Wide kOne = Wide{1} << 64;

// The largest whole number whose square is not above n.
constexpr std::uint64_t root(Wide n) {
  std::uint64_t out = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t next = out | (std::uint64_t{1} << bit);
    if (Wide{next} * next <= n) out = next;
  }
  return out;
}

// 2^(-1/2), 2^(-1/4), 2^(-1/8), ... in 64 binary digits: each is the root of the one before.
constexpr std::array<std::uint64_t, 64> kRoots = [] {
  std::array<std::uint64_t, 64> out{};
  out[0] = root(Wide{1} << 127);
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = root(Wide{out[i - 1]} << 64);
  return out;
}();

// value * f / 2^64, rounded down, for f below one.
Wide part(Wide value, Wide f) {
  return (value >> 64) * f + (((value & (kOne - 1)) * f) >> 64);
}

std::uint64_t milliseconds(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

Decay::Decay(Duration half_life) : half_life_(half_life), half_ms_(milliseconds(half_life)) {
  CHECK(half_life >= kShortest && half_life <= kLongest);
  constexpr std::uint64_t kLog2E = 13'306'513'097'844'322'492U;  // log2 e in 63 binary digits
  reach_ms_ = static_cast<std::uint64_t>((Wide{half_ms_} * kLog2E) >> 63);
}

Wide Decay::factor(Duration time) const {
  const std::uint64_t ms = milliseconds(time), halvings = ms / half_ms_;
  if (halvings >= 64) return 0;
  const Wide rest = (Wide{ms % half_ms_} << 64) / half_ms_;  // of a half-life, 64 digits
  Wide out = kOne;
  for (std::size_t i = 0; i < kRoots.size(); ++i) {
    if ((rest >> (63 - i) & 1) != 0) out = (out * kRoots[i]) >> 64;
  }
  return out >> halvings;
}

Wide Decay::after(Wide usage, Wide rate, Duration time) const {
  const Wide f = time <= Duration(0) ? kOne : factor(time);
  if (f == kOne) return usage;
  const Wide limit = (std::min(rate, kMostRate) * reach_ms_) << 16;
  return std::min(part(usage, f) + limit - part(limit, f), kMostUsage);
}

}  // namespace krater::scheduler
