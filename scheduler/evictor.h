// Carries out evictions: all victims of a decision in one transaction, and remembers for whom they
// leave as long as they are there. Lives on the scheduler's loop.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/execution.h"
#include "scheduler/report.h"

namespace krater::scheduler {

class Evictor {
 public:
  explicit Evictor(const Execution& world) : world_(world) {}
  ~Evictor() { *alive_ = false; }
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  // Nothing ran since the snapshot it was decided on.
  void evict(const GangEviction& eviction);
  // Who was evicted for this job and is still there.
  std::vector<TaskSpecPtr> leaving_for(const JobKey& job) const;
  // Before a cycle: who left is remembered no more.
  void forget_those_who_left();

 private:
  void evicted(const GangEviction& eviction);
  void not_evicted(const GangEviction& eviction, const Error& why);

  const Execution& world_;
  JobMap<std::vector<TaskSpecPtr>> leaving_for_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
