// backfill: places pods that request nothing. They use up a node's pod count and nothing else, so
// no queue's limit is asked; one that fits nowhere does not hold up the others.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/info.h"

namespace krater::scheduler {

class Session;
void backfill(Session& session);

// The tasks of a job that wait and request nothing, in the order in which they are served.
std::vector<std::uint32_t> best_effort_tasks(const Session& session, const JobInfo& job);

}  // namespace krater::scheduler
