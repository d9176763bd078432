// What the scheduler counts, for /metrics: it is counted on the scheduler's loop and read on any
// thread.
#pragma once

#include <memory>
#include <mutex>

#include "api/server/metrics.h"
#include "scheduler/scheduler.h"

namespace krater::cli {

class SchedulerGauges {
 public:
  void take(const scheduler::Metrics& now) {
    const std::lock_guard lock(mutex_);
    last_ = now;
  }
  scheduler::Metrics last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  scheduler::Metrics last_;
};

// The gauges keep `from` alive.
void add_scheduler_gauges(api::Metrics& to, const std::shared_ptr<const SchedulerGauges>& from);

}  // namespace krater::cli
