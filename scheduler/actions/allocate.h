// allocate: gives the pending tasks of admitted jobs nodes, a gang at a time: all that a gang needs
// at once is committed, or nothing. What goes beyond the gang follows one task a turn, so that
// queues and jobs interleave fairly.
#pragma once

namespace krater::scheduler {

class Session;
void allocate(Session& session);

}  // namespace krater::scheduler
