#include "agent/pod/probe.h"

#include <gtest/gtest.h>

namespace krater::agent {
namespace {

ProbeSpec thresholds(int success, int failure) {
  ProbeSpec out;
  out.success_threshold = success;
  out.failure_threshold = failure;
  return out;
}

TEST(Probe, FailsOnlyAfterEnoughFailuresInARow) {
  ProbeMachine machine(thresholds(1, 3));
  EXPECT_EQ(machine.record(false), std::nullopt);
  EXPECT_EQ(machine.record(false), std::nullopt);
  EXPECT_EQ(machine.record(true), true);
  EXPECT_EQ(machine.record(false), std::nullopt);
  EXPECT_EQ(machine.record(false), std::nullopt);
  EXPECT_EQ(machine.record(false), false);
}

TEST(Probe, CountsAnewAfterAVerdictOfFailure) {
  ProbeMachine machine(thresholds(1, 2));
  machine.record(false);
  EXPECT_EQ(machine.record(false), false);
  EXPECT_EQ(machine.record(false), std::nullopt);
  EXPECT_EQ(machine.record(false), false);
}

TEST(Probe, SucceedsAfterEnoughSuccessesInARow) {
  ProbeMachine machine(thresholds(2, 1));
  EXPECT_EQ(machine.record(true), std::nullopt);
  EXPECT_EQ(machine.record(true), true);
  EXPECT_EQ(machine.record(true), true);
}

}  // namespace
}  // namespace krater::agent
