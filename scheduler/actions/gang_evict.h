// gangpreempt and gangreclaim: room for a whole gang at once, by evicting what others have beyond
// their minimum first and whole gangs after that (volcano.md 3.6). They stand in for preempt and
// reclaim.
//
// Always holds: nothing is evicted unless the gang then has room for its minimum; a gang that would
// be broken goes whole; nobody is evicted who could stay.
#pragma once

#include "scheduler/session.h"

namespace krater::scheduler {

void gang_preempt(Session& session);
void gang_reclaim(Session& session);

}  // namespace krater::scheduler
