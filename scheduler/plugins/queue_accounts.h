// What the two queue plugins know of every queue: what it holds, asks for, has promised to admitted
// jobs, and may hold at most. Flat: no queue sees its parent. Kept current through placements.
#pragma once

#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

struct QueueAccount {
  bool has_jobs = false;
  Resource allocated;  // of tasks in an allocated status
  Resource request;    // allocated and pending
  Resource inqueue;    // admitted, not allocated yet
  Resource elastic;    // allocated beyond the jobs' minimum
  Resource
      real_capability;  // what others' guarantees leave, plus the own one, within the capability
};

// One per queue, in the session's order.
std::vector<QueueAccount> open_accounts(const Session& session);

// realCapability of one queue: total less all guarantees, plus its own, within its capability. A
// cpu or memory capability of zero means none was set (as upstream); any other dimension that is
// listed binds.
Resource real_capability(const Resource& total, const Resource& all_guarantees,
                         const Resource& guarantee, const Bounds& capability);

// minResources + allocated + inqueue - elastic <= realCapability, in the dimensions that the job
// asks for. `queue` is whose account it is; `freed`: who holds that much can be made to leave.
Vote vote_on_admission(const Session& session, const QueueAccount& account, QueueId queue,
                       JobId job, const Resource& freed, Refusal& why);

// allocated + request <= limit, in the dimensions that the task asks for (the pod count is no
// queue's business). `limit_name` is what the figures call it.
bool within(const Session& session, const QueueAccount& account, const Resource& request,
            const Resource& limit, std::string_view limit_name, QueueId queue, Refusal& why);

}  // namespace krater::scheduler
