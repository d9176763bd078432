// What plugin extender sends: tasks, jobs, nodes and queues by the names that Volcano's own structs
// have in JSON. Pure.
#pragma once

#include "scheduler/session.h"

namespace krater::scheduler {

// cpu in milli, memory in bytes, pods in whole numbers, all else in milli.
Json resource_message(const ResourceNames& names, const Resource& amounts);
Json task_message(const Session& session, const Task& task);
Json job_message(const Session& session, const JobInfo& job);
// Without the tasks on it.
Json node_message(const Session& session, NodeSlot slot);
Json queue_message(const QueueInfo& queue);
// All that the session knows.
Json session_message(const Session& session);

}  // namespace krater::scheduler
