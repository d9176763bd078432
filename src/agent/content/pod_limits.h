// What a pod's containers may use together, by their limits. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "base/quantity.h"

namespace krater::agent {

// Bytes; 0 where a container, and the pod itself, leave memory unlimited. Mirrors what a kubelet
// gives the pod's cgroup. `pod` is a Pod as served.
std::int64_t pod_memory_limit(const Json& pod);
// The sum of those containers' ephemeral-storage that have a limit; nothing when none has.
std::optional<Quantity> pod_storage_limit(const Json& pod);
// A container's own; nothing when it has none, or zero.
std::optional<Quantity> container_storage_limit(const Json& container);

}  // namespace krater::agent
