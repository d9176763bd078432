// PodStatus as a kubelet would report it, from the spec, what is known, and the status the object
// has now (whose transition times, foreign conditions and QoS class are kept). Pure.
#pragma once

#include <string>
#include <string_view>

#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "base/json.h"
#include "base/time.h"

namespace krater::agent {

// "Pending", "Running", "Succeeded", "Failed".
std::string pod_phase(const PodSpec& spec, const PodState& state);

// Why a container that nothing is wrong with waits for its first start.
std::string_view why_not_started(const PodSpec& spec, const PodState& state);

// The whole status object. `current` is the pod as last read.
Json pod_status(const PodSpec& spec, const PodState& state, const Json& current, WallTime now);

}  // namespace krater::agent
