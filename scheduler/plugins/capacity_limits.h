// Whose limit it is that a queue runs into, when it is not its own: for those who ask why a job
// waits. Pure.
#pragma once

#include "scheduler/plugins/capacity_book.h"

namespace krater::scheduler {

// A queue's limit in one dimension is what some queue above it may hold (root: what there is), less
// what is guaranteed to others on the way down.
struct LimitSource {
  QueueId queue = kNoQueue;
  std::int64_t amount = 0, guaranteed = 0;
};
LimitSource source_of_limit(const Session& session, const CapacityBook& book, QueueId queue,
                            Dim dim);

// Completes a refusal that `limited` caused, a queue's own or one above it.
void name_sources(const Session& session, const CapacityBook& book, QueueId queue, QueueId limited,
                  Refusal& why);

}  // namespace krater::scheduler
