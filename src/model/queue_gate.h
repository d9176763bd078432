// The scheduling gate behind which a pod waits for room in its queue. Both the annotation that asks
// for it ("true") and the gate's name.
#pragma once

#include <string_view>

namespace krater::keys {
inline constexpr std::string_view kQueueAllocationGate =
    "scheduling.volcano.sh/queue-allocation-gate";
}  // namespace krater::keys
