// What allocate and backfill ask of a job before they look at its tasks.
#pragma once

#include <optional>

#include "scheduler/session.h"

namespace krater::scheduler {

// Whether nothing of the job may be placed: no such queue, a queue that is not open, too few
// members. The reason is noted on the job.
bool refused_as_a_whole(Session& session, JobId job);

// What those are told who wait behind `first` in a queue that serves in order.
Refusal behind(const Session& session, QueueId queue, JobId first);

// The queue part of it: also what keeps a job from being admitted.
std::optional<Refusal> queue_refusal(const Session& session, JobId job);

}  // namespace krater::scheduler
