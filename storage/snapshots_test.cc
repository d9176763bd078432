#include "storage/snapshots.h"

#include <gtest/gtest.h>

namespace krater::storage {
namespace {

Revision at(std::int64_t number) {
  return Revision(number);
}

TEST(Snapshots, RecentStatesAreFoundByTheirExactRevision) {
  Snapshots snapshots({3, 1U << 20}, Index(), at(5));
  snapshots.publish(Index(), at(7), 0);
  snapshots.publish(Index(), at(8), 0);
  EXPECT_EQ(snapshots.newest()->revision(), at(8));
  EXPECT_EQ(snapshots.at(at(5))->revision(), at(5));
  EXPECT_EQ(snapshots.at(at(7))->revision(), at(7));
  EXPECT_EQ(snapshots.at(at(6)), nullptr) << "in the middle of a group";
  EXPECT_EQ(snapshots.at(at(9)), nullptr);
  snapshots.publish(Index(), at(9), 0);
  EXPECT_EQ(snapshots.at(at(5)), nullptr) << "three are kept";
}

TEST(Snapshots, OldStatesGoWhenTheyKeepTooMuchAliveButTheNewestStays) {
  Snapshots snapshots({1000, 100'000}, Index(), at(0));
  for (int i = 1; i <= 50; ++i) snapshots.publish(Index(), at(i), 20'000);
  EXPECT_EQ(snapshots.newest()->revision(), at(50));
  EXPECT_NE(snapshots.at(at(48)), nullptr);
  EXPECT_EQ(snapshots.at(at(40)), nullptr);
  snapshots.publish(Index(), at(51), 1U << 30);
  EXPECT_EQ(snapshots.newest()->revision(), at(51));
  EXPECT_EQ(snapshots.at(at(50)), nullptr);
}

}  // namespace
}  // namespace krater::storage
