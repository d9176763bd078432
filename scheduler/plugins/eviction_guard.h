// A plugin whose whole word is that some tasks must not be evicted, by nobody and for nobody: it
// says who and why (protects, keeps_as), the rest follows.
#pragma once

#include "scheduler/hooks.h"

namespace krater::scheduler {

class EvictionGuard : public Plugin,
                      public PreemptableHook,
                      public ReclaimableHook,
                      public GangEvictableHook,
                      public EvictionGuardHook,
                      public KeeperHook {
 public:
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const final;
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const final;
  TaskRefs gang_evictable(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                          bool across_queues) const final;

 private:
  TaskRefs unprotected(const Session& session, const TaskRefs& candidates) const;
};

}  // namespace krater::scheduler
