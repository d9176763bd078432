// What is written on an object for whoever cares to read it: its labels and annotations. Plugins
// and the terms of other pods read them at will, so a change of them may be what somebody waits
// for. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/object.h"

namespace krater::scheduler {

// Written on PodGroups beside krater.io/why-pending, as by Volcano: where the job is.
inline constexpr std::string_view kAllocatedHyperNode = "volcano.sh/job-allocated-hypernode";

// Equal for equal labels and annotations, whatever their order. What the scheduler itself writes on
// PodGroups does not count.
std::uint64_t words_of(const ObjectView& object);

}  // namespace krater::scheduler
