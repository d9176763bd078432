// shuffle: pods that had better be elsewhere leave, whoever waits (volcano.md 3.7).
#pragma once

#include "scheduler/session.h"

namespace krater::scheduler {

void shuffle(Session& session);

}  // namespace krater::scheduler
