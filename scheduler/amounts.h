// Arithmetic on single amounts for words and comparisons: what is too large to be told apart is the
// most there is. Sums that have to be exact are Resources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scheduler/resource.h"

namespace krater::scheduler {

// Within +-kMostAmount, whatever the operands are.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  __extension__ using Exact = __int128;
  const Exact sum = static_cast<Exact>(a) + b;
  return static_cast<std::int64_t>(std::clamp<Exact>(sum, -kMostAmount, kMostAmount));
}

}  // namespace krater::scheduler
