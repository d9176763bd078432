// Observations counted by size, as Prometheus has them. A value; whoever shares one locks it.
#pragma once

#include <cstdint>
#include <vector>

namespace krater {

class Histogram {
 public:
  // `bounds`: upper ones, inclusive, growing; they outlive this.
  explicit Histogram(const std::vector<double>& bounds)
      : bounds_(&bounds), counts_(bounds.size() + 1) {}

  // `times` observations of the same value.
  void observe(double value, std::uint64_t times = 1);

  const std::vector<double>& bounds() const { return *bounds_; }
  // Of the bucket alone, not of those below it; the last one has no bound.
  std::uint64_t in_bucket(std::size_t bucket) const { return counts_[bucket]; }
  std::uint64_t count() const;
  double sum() const { return sum_; }

 private:
  const std::vector<double>* bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

// `count` bounds from `first` to `last`, each by the same factor larger than the one before.
std::vector<double> exponential_bounds(double first, double last, int count);

}  // namespace krater
