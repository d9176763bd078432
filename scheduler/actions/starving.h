// The jobs for which somebody may have to go, by queue, as preempt and reclaim go through them.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "scheduler/actions/heap.h"
#include "scheduler/session.h"

namespace krater::scheduler {

// Admitted, valid, in an open queue, with a place to take and tasks that wait for one.
std::map<QueueId, Heap<JobId>> starving_jobs(Session& session);

// Pending tasks that may be placed, in their order.
std::deque<std::uint32_t> waiting_tasks(const Session& session, JobId job);

// Those of them that others may be evicted for: their policy allows it, and nobody is leaving for
// them already. To be asked before anybody is evicted for the job: whoever was nominated once would
// take those who leave for him now for those who left for him then.
std::deque<std::uint32_t> claiming_tasks(const Session& session, JobId job);

}  // namespace krater::scheduler
