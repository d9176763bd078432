// What queues are due, and who is served before whom, worked out plainly.
#pragma once

#include "scheduler/testing/naive_world.h"

namespace krater::scheduler::naive {

// What is kept for a queue: no more than it may hold at all, and nothing of what is more than there
// is.
Amounts guarantee_of(const World& world, const Queue& queue);
// All that its parent may hold (root: all there is), less what is guaranteed to its siblings,
// within its own capability.
Amounts limit_of(const World& world, const Queue& queue);

// What proportion gives each queue, by name: the cluster is poured out in rounds, by weight, to
// whoever has not got all he asks for yet.
using Poured = std::map<std::string, Amounts>;
Poured pour_out(const World& world);

// What a queue deserves. Capacity: as was said, at least its guarantee, in a flat world within its
// limit. Proportion: what it was given.
Wishes due_of(const World& world, const Poured& poured, const Queue& queue);
// Whether so much more may go to the queue: within the limits of capacity, or what proportion gave,
// and what is guaranteed to others and not in use stays free.
bool may_have(const World& world, const Poured& poured, const Placement& placement,
              const Queue& queue, const Amounts& more);
// Proportion: it has all it deserves, of everything.
bool overused(const World& world, const Poured& poured, const Placement& placement,
              const Queue& queue);
// Of what queues are guaranteed, so much nobody there holds.
Amounts guaranteed_and_not_held(const World& world, const Placement& placement);

// a/b; b is above zero.
struct Fraction {
  std::int64_t part = 0, whole = 1;
};
int compare(const Fraction& a, const Fraction& b);  // <0, 0, >0
// Of what the queue deserves, the kind of which it holds most.
Fraction share_of(const World& world, const Poured& poured, const Placement& placement,
                  const Queue& queue);
// Of all there is, the kind of which it holds most.
Fraction dominant_share(const World& world, const Amounts& held);

// Whether a is served before b.
bool queue_before(const World& world, const Poured& poured, const Placement& placement,
                  const Queue& a, const Queue& b);
// <0: a is served before b; 0: their names decide.
int job_order(const World& world, const Placement& placement, const Job& a, const Job& b);

}  // namespace krater::scheduler::naive
