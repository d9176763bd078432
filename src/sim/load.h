// The objects that simulated users submit. Pure.
#pragma once

#include <string>

#include "model/object.h"
#include "sim/scenario.h"

namespace krater::sim {

struct Submission {
  Kind kind;
  Json object;
};

// In namespace default. Pods do as their annotations say (agent/simulated); a RayJob's submitter
// ends a little after its Ray job (sim/ray_dashboards).
Submission make_submission(const Load& load, const std::string& name);
Json queue_object(const std::string& name);

}  // namespace krater::sim
