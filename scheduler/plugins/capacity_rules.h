// What capacity compares when one queue may have to give to another. Pure.
#pragma once

#include "scheduler/resource.h"

namespace krater::scheduler {

// Both ask for something in common; of pods that ask for nothing else, the place itself.
bool of_use(const Resource& given, const Resource& wanted);
bool above_floor(const Resource& rest, const Resource& guarantee);
// The queue has a fair point in something of what is asked for.
bool has_relevant(const Bounds& deserved, const Resource& request);
bool beyond_deserved(const Resource& allocated, const Resource& given, const Bounds& deserved);
// The dimensions that `wanted` asks for, without the pod count.
Resource only(const Resource& amounts, const Resource& wanted);

}  // namespace krater::scheduler
