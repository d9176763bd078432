#include "controllers/job/backoff.h"

#include <algorithm>

namespace krater::controllers {

Duration backoff_after(std::int64_t failures_in_a_row) {
  constexpr Duration kFirst = 10s, kLimit = 6min;
  if (failures_in_a_row <= 0) return Duration(0);
  Duration out = kFirst;
  for (std::int64_t i = 1; i < failures_in_a_row && out < kLimit; ++i) out *= 2;
  return std::min(out, kLimit);
}

Duration backoff_left(const std::vector<PodFact>& pods, WallTime now) {
  std::optional<WallTime> last_success;
  for (const PodFact& pod : pods) {
    if (pod.succeeded()) last_success = std::max(last_success.value_or(pod.finished), pod.finished);
  }
  std::int64_t failures = 0;
  WallTime last_failure;
  for (const PodFact& pod : pods) {
    const bool removed_by_us = pod.deleting && !pod.tracked;
    if (pod.phase != PodPhase::Failed || removed_by_us) continue;
    if (last_success && pod.finished <= *last_success) continue;
    ++failures;
    last_failure = std::max(last_failure, pod.finished);
  }
  if (failures == 0) return Duration(0);
  return std::max(Duration(0), last_failure + backoff_after(failures) - now);
}

Duration backoff_left(const PodFact& last_failed, WallTime now) {
  const std::int64_t failures = last_failed.failures + last_failed.ignored_failures + 1;
  return std::max(Duration(0), last_failed.finished + backoff_after(failures) - now);
}

}  // namespace krater::controllers
