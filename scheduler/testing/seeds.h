// Checks by seed. One that fails is told and can be run alone: KRATER_SCHEDULER_SEED=<seed>.
// KRATER_SCHEDULER_SEEDS: how many.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace krater::scheduler {

// Of slow checks a part: one of so many.
template <typename Check>
void each_seed(std::uint64_t part, Check check) {
  const char* one = std::getenv("KRATER_SCHEDULER_SEED");
  if (one != nullptr) return check(std::strtoull(one, nullptr, 10));
  const char* many = std::getenv("KRATER_SCHEDULER_SEEDS");
  const std::uint64_t count = (many == nullptr ? 100 : std::strtoull(many, nullptr, 10)) / part + 1;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE("KRATER_SCHEDULER_SEED=" + std::to_string(seed));
    check(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace krater::scheduler
