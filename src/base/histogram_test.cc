#include "base/histogram.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Histogram, AnObservationIsInTheFirstBucketThatHasRoomForIt) {
  const std::vector<double> bounds{1, 10};
  Histogram histogram(bounds);
  histogram.observe(1);
  histogram.observe(1.5, 2);
  histogram.observe(11);
  EXPECT_EQ(histogram.in_bucket(0), 1u);
  EXPECT_EQ(histogram.in_bucket(1), 2u);
  EXPECT_EQ(histogram.in_bucket(2), 1u);
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_DOUBLE_EQ(histogram.sum(), 15);
}

TEST(Histogram, BoundsGrowByOneFactor) {
  const std::vector<double> bounds = exponential_bounds(1, 16, 5);
  ASSERT_EQ(bounds.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(bounds[static_cast<std::size_t>(i)], 1 << i);
}

}  // namespace
}  // namespace krater
