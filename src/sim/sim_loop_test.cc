#include "sim/sim_loop.h"

#include <gtest/gtest.h>

#include <string>

namespace krater::sim {
namespace {

TEST(SimLoop, RunsByTimeAndThenInOrderOfCreation) {
  SimLoop world(1);
  Lane lane(world);
  std::string order;
  lane.after(2s, [&] { order += 'c'; });
  lane.after(1s, [&] { order += 'a'; });
  lane.after(1s, [&] { order += 'b'; });
  EXPECT_TRUE(world.run_until(world.now() + 3s));
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(world.now().time_since_epoch(), 3s);
}

TEST(SimLoop, ALaneKeepsTheOrderOfItsPostsAndLanesOvertakeEachOther) {
  bool overtaken = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimLoop world(seed);
    Lane one(world), two(world);
    std::string order;
    one.post([&] { order += 'a'; });
    one.post([&] { order += 'b'; });
    two.post([&] { order += 'x'; });
    EXPECT_TRUE(world.run_until(world.now() + 1s));
    EXPECT_LT(order.find('a'), order.find('b'));
    overtaken = overtaken || order.find('x') == 0;
  }
  EXPECT_TRUE(overtaken);
}

TEST(SimLoop, WhatIsCancelledOrWhoseLaneIsGoneNeverRuns) {
  SimLoop world(1);
  Lane stays(world);
  int ran = 0;
  const Loop::TimerId timer = stays.after(1s, [&] { ++ran; });
  stays.cancel(timer);
  stays.cancel(timer);
  {
    Lane goes(world);
    goes.post([&] { ++ran; });
    goes.after(1s, [&] { ++ran; });
  }
  stays.after(2s, [&] { ran += 10; });
  EXPECT_TRUE(world.run_until(world.now() + 5s));
  EXPECT_EQ(ran, 10);
}

TEST(SimLoop, AWorldThatRunsInCirclesIsStoppedAndSaysWhoWaits) {
  SimLoop world(1);
  Lane lane(world, "busy"), patient(world, "patient");
  patient.after(1500ms, [] {});
  std::function<void()> again = [&] { lane.after(0s, again); };
  lane.post(again);
  EXPECT_FALSE(world.run_until(world.now() + 1s));
  EXPECT_NE(world.waiting().find("busy: 1, next in 0ms"), std::string::npos) << world.waiting();
  EXPECT_NE(world.waiting().find("patient: 1, next in 1"), std::string::npos) << world.waiting();
}

}  // namespace
}  // namespace krater::sim
