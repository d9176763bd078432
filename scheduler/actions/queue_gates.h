// Pods that wait behind their queue's gate (annotation scheduling.volcano.sh/queue-allocation-gate)
// are let go when the queue has room for them, whether or not a node has: what adds nodes sees only
// those that nodes are missing for.
#pragma once

#include "scheduler/session.h"

namespace krater::scheduler {

void lift_queue_gates(Session& session);

}  // namespace krater::scheduler
