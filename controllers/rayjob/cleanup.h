// What goes when, after a RayJob has ended. Pure.
#pragma once

#include <optional>

#include "controllers/rayjob/job_seen.h"

namespace krater::controllers {

struct CleanupDue {
  std::optional<DeletionPolicy> now{};   // to be carried out in this pass
  std::optional<Duration> look_again{};  // until the next one is due
};

// From deletionRules (of those due the one that destroys most), the legacy onSuccess/onFailure, or
// shutdownAfterJobFinishes. What is done already is not due again.
CleanupDue cleanup_due(const JobSeen& seen, const JobRules& rules, WallTime now);

PlannedWrite delete_cluster(const JobSeen& seen);
PlannedWrite delete_job(const JobSeen& seen);
// Suspends every worker group; nullopt when all are.
std::optional<PlannedWrite> delete_workers(const JobSeen& seen);

}  // namespace krater::controllers
