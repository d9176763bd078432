// Second thoughts on a claim: whoever was chosen for one of its tasks, and is not needed any more
// since others had to go whole for the next one, stays.
#pragma once

#include "scheduler/statement.h"

namespace krater::scheduler {

// The statement holds all of one claim: evictions, and the places promised for them. A gang that
// was broken stays as a whole or goes as a whole; the most valuable are asked first.
void spare_needless(Session& session, Statement& statement);

}  // namespace krater::scheduler
