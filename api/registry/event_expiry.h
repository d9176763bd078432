// Events are kept for an hour after they last happened.
#pragma once

#include "base/time.h"
#include "storage/store.h"

namespace krater::api {

// Queues the deletions, without waiting for them; a pass that finds the store busy leaves the rest
// to the next.
void delete_old_events(storage::Store& store, WallTime now);

}  // namespace krater::api
