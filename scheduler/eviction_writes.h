// What an eviction is in the store: conditions on the pods that say why, their deletion, and the
// nomination of those who get the room; all in one transaction. Pure.
#pragma once

#include <vector>

#include "client/object_client.h"
#include "scheduler/report.h"

namespace krater::scheduler {

// "Pod is evicted, because of preempt: job d/high (priority 100, queue q) needs its place; decided
// by plugins priority, conformance"
std::string eviction_text(const GangEviction& eviction);

std::vector<client::Write> eviction_writes(const GangEviction& eviction, WallTime now);

}  // namespace krater::scheduler
