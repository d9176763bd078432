#include "base/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace krater {

void Histogram::observe(double value, std::uint64_t times) {
  const auto bucket = std::lower_bound(bounds_->begin(), bounds_->end(), value);
  counts_[static_cast<std::size_t>(bucket - bounds_->begin())] += times;
  sum_ += value * static_cast<double>(times);
}

std::uint64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::vector<double> exponential_bounds(double first, double last, int count) {
  const double factor = std::pow(last / first, 1.0 / (count - 1));
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(first * std::pow(factor, i));
  return out;
}

}  // namespace krater
