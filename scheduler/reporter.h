// After a cycle: passes on what it found out about the jobs. Phases go into the cache at once,
// words to the status writer and the decision log, and who cannot be helped is parked. Lives on the
// scheduler's loop.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "scheduler/binder.h"
#include "scheduler/execution.h"
#include "scheduler/report.h"
#include "scheduler/status_writer.h"

namespace krater::scheduler {

class Reporter {
 public:
  // `wake` starts another cycle soon.
  Reporter(const Execution& world, Parking& parking, StatusWriter& statuses, const Binder& binder,
           std::function<void()> wake)
      : world_(world),
        parking_(parking),
        statuses_(statuses),
        binder_(binder),
        wake_(std::move(wake)) {}
  ~Reporter() { *alive_ = false; }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // `changed`: the jobs touched since the last session. `all`: everybody is reported on.
  void take(const Session& session, const std::set<JobKey>& changed, bool all);
  // The job was bound: when it waits again, that is news.
  void placed(const JobKey& job) { told_waiting_.erase(job); }

 private:
  void take(JobReport report, const Session& session);
  void forget(const JobKey& job);
  void follow_phase(const JobReport& report, const JobInfo& before);
  void tell_waiting(const JobReport& report);
  bool gives_time(const JobReport& report, PodGroupPhase before, bool allowed);

  const Execution& world_;
  Parking& parking_;
  StatusWriter& statuses_;
  const Binder& binder_;
  std::function<void()> wake_;
  JobMap<std::string> told_waiting_;  // the reason in the decision log
  JobMap<SteadyTime> incomplete_;     // running gangs, since when members are missing
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
