#include "scheduler/plugins/eviction_guard.h"

#include <algorithm>
#include <iterator>

#include "scheduler/session.h"

namespace krater::scheduler {

TaskRefs EvictionGuard::unprotected(const Session& session, const TaskRefs& candidates) const {
  TaskRefs out;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(out),
               [&](const TaskRef& one) { return !protects(*session.task(one).spec); });
  return out;
}

std::optional<TaskRefs> EvictionGuard::preemptable(const Session& session, TaskRef,
                                                   const TaskRefs& candidates) const {
  return unprotected(session, candidates);
}

std::optional<TaskRefs> EvictionGuard::reclaimable(const Session& session, TaskRef,
                                                   const TaskRefs& candidates) const {
  return unprotected(session, candidates);
}

TaskRefs EvictionGuard::gang_evictable(const Session& session, TaskRef, const TaskRefs& candidates,
                                       bool) const {
  return unprotected(session, candidates);
}

}  // namespace krater::scheduler
