// What is left of past usage: it halves with every half-life, while what is in use now keeps adding
// to it. In integers, the same on every machine. Pure.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace krater::scheduler {

// Wide enough for the largest rate over the longest half-life.
__extension__ using Wide = unsigned __int128;

class Decay {
 public:
  static constexpr Duration kShortest = std::chrono::minutes(1);
  static constexpr Duration kLongest = std::chrono::hours(24 * 3652);
  // Usage is kept in this many parts of a unit-second.
  static constexpr Wide kSecond = Wide{1000} << 16;
  static constexpr Wide kMostRate = Wide{1} << 70;    // units
  static constexpr Wide kMostUsage = Wide{1} << 126;  // parts

  // kShortest to kLongest, in whole milliseconds.
  explicit Decay(Duration half_life);

  // Of `usage` after `time`, during which `rate` units were in use throughout: with h the half-life
  // and f = 2^(-time/h)
  //   usage * f + rate * h/ln 2 * (1 - f)
  // which is what adding and halving in ever smaller steps comes to, whenever it is looked at. f
  // has 64 binary digits and is exact at whole half-lives; a step is wrong by no more than one
  // part. Time below zero is none.
  Wide after(Wide usage, Wide rate, Duration time) const;
  Duration half_life() const { return half_life_; }

 private:
  Wide factor(Duration time) const;  // 2^64: one

  Duration half_life_;
  std::uint64_t half_ms_, reach_ms_;  // h, h/ln 2
};

}  // namespace krater::scheduler
