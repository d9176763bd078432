// shuffle: pods that had better be elsewhere leave, whoever waits (volcano.md 3.7).
//
// Always holds: a gang that stood before stands afterwards, or has gone whole. It goes whole where
// all of it was named, or where the plugin that names them says that it may.
#pragma once

#include "scheduler/session.h"

namespace krater::scheduler {

void shuffle(Session& session);

}  // namespace krater::scheduler
