#include "api/server/flow_control.h"

#include <gtest/gtest.h>

#include <vector>

namespace krater::api {
namespace {

using Places = std::vector<FlowControl::Place>;

std::size_t fill(FlowControl& flow, FlowKind kind, const std::string& client, Places& places) {
  std::size_t got = 0;
  while (auto place = flow.admit(kind, client)) {
    places.push_back(*std::move(place));
    ++got;
  }
  return got;
}

TEST(FlowControl, AloneAClientHasAllOfIt) {
  FlowControl flow({8, 4});
  Places places;
  EXPECT_EQ(fill(flow, FlowKind::ReadOnly, "ann", places), 8u);
  EXPECT_EQ(fill(flow, FlowKind::Mutating, "ann", places), 4u);
  EXPECT_EQ(flow.counts().in_flight[0], 8u);
  EXPECT_EQ(flow.counts().rejected[0], 1u);
  places.clear();
  EXPECT_EQ(flow.counts().in_flight[0], 0u);
  EXPECT_EQ(fill(flow, FlowKind::ReadOnly, "ann", places), 8u);
}

TEST(FlowControl, WhoFloodsTakesNoPlaceFromANewcomer) {
  FlowControl flow({8, 4});
  Places flood, bob;
  fill(flow, FlowKind::ReadOnly, "ann", flood);
  EXPECT_EQ(fill(flow, FlowKind::ReadOnly, "bob", bob), 4u);
  // And the flood is cut down to its own half before it may grow again.
  flood.resize(5);
  EXPECT_FALSE(flow.admit(FlowKind::ReadOnly, "ann").has_value());
  flood.resize(3);
  EXPECT_TRUE(flow.admit(FlowKind::ReadOnly, "ann").has_value());
}

TEST(FlowControl, EverybodyHasAtLeastOne) {
  FlowControl flow({2, 2});
  Places places;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(fill(flow, FlowKind::ReadOnly, "user-" + std::to_string(i), places),
              i == 0 ? 2u : 1u);
}

TEST(FlowControl, ExemptRequestsAreCountedAndNeverRefused) {
  FlowControl flow({1, 1});
  Places places;
  for (int i = 0; i < 5; ++i) places.push_back(flow.admit_exempt(FlowKind::ReadOnly));
  EXPECT_EQ(flow.counts().in_flight[0], 5u);
  EXPECT_TRUE(flow.admit(FlowKind::ReadOnly, "ann").has_value());
}

TEST(FlowControl, WithoutALimitNothingIsRefused) {
  FlowControl flow({0, 0});
  Places places;
  for (int i = 0; i < 1000; ++i) {
    auto place = flow.admit(FlowKind::Mutating, "ann");
    ASSERT_TRUE(place.has_value());
    places.push_back(*std::move(place));
  }
}

}  // namespace
}  // namespace krater::api
