// Stopwatch and percentiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace krater::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Latencies {
  std::vector<double> ms;
  void add(Clock::time_point start) { ms.push_back(seconds_since(start) * 1000); }
  // The value that `quantile` (0..1] of what was added does not exceed (nearest rank, so p99 of 20
  // is the largest); 0 when nothing was added.
  double at(double quantile) {
    if (ms.empty()) return 0;
    const double rank = std::ceil(quantile * static_cast<double>(ms.size())) - 1;
    const auto place = ms.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 0.0));
    std::nth_element(ms.begin(), place, ms.end());
    return *place;
  }
};

}  // namespace krater::bench
