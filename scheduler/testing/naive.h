// A scheduler that is slow and plain, to compare the real one with. Same rules (allocate with
// plugins priority, gang, drf if asked for, capacity or proportion, predicates, binpack), other
// code. Pure.
#pragma once

#include "scheduler/testing/naive_shares.h"

namespace krater::scheduler::naive {

// What one cycle on the empty cluster decides.
Placement schedule(const World& world);

// What is wrong with a placement: a node over-committed, a queue over its limit, a gang in part.
std::vector<std::string> violations(const World& world, const Placement& placement);
// Of what one cycle on the empty cluster decided: a guarantee that was given away.
std::vector<std::string> lost_guarantees(const World& world, const Placement& placement);
// Jobs of which nothing runs although their gang would fit beside what runs: exact, as all pods of
// a job are alike. Their names.
std::vector<std::string> idle_for_no_reason(const World& world, const Placement& placement);

}  // namespace krater::scheduler::naive
