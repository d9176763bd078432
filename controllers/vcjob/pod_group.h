// The PodGroup of a Volcano Job. Pure.
#pragma once

#include <optional>

#include "controllers/loop/plan.h"
#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// Makes it, or brings its size and priority up to date. nullopt: nothing to do.
std::optional<PlannedWrite> sync_pod_group(const Observed& seen);
// Why it waits, in Volcano's words; "" when it does not.
std::string why_group_waits(const PodGroupView& group);

}  // namespace krater::controllers::vcjob
