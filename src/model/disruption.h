// Whether a pod ended because others needed its place.
#pragma once

#include "model/pod.h"

namespace krater {

// The scheduler preempted or reclaimed it, as its condition says: what became of it is nobody's
// failure, and nothing it did is done.
inline bool made_way_for_others(const PodView& pod) {
  const auto disrupted = pod.condition("DisruptionTarget");
  return disrupted && disrupted->is_true() && disrupted->reason == "PreemptionByScheduler";
}

}  // namespace krater
