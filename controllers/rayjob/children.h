// The objects a RayJob makes: its RayCluster, its submitter Job, its head service. Pure.
#pragma once

#include "controllers/rayjob/job_seen.h"

namespace krater::controllers {

// Gang of a RayJob: its cluster's pods; in resources (not in members) also the submitter, which
// starts only when the cluster runs and would hold the gang up forever.
GangSize job_gang_size(const JobSeen& seen, const JobRules& rules);

PlannedWrite create_cluster(const JobSeen& seen, const JobRules& rules);
// Code::Invalid when the spec cannot be turned into a command.
Result<PlannedWrite> create_submitter(const JobSeen& seen, const RayJobStatus& status,
                                      const JobRules& rules);
// "<rayjob>-head-svc" on the current cluster's head; nullopt when it is there and right.
std::optional<PlannedWrite> ensure_head_service(const JobSeen& seen, const JobRules& rules);
// The template of the submitter's pod without command and environment.
Json submitter_template(const RayJobView& job);

// How the submitter ended, if it has.
struct SubmitterEnd {
  bool failed = false;
  WallTime at{};
  std::string reason, message;  // of the Job's Failed condition
};
std::optional<SubmitterEnd> submitter_end(const ObjectPtr& submitter);

EventNote job_event(EventNote::Type type, std::string reason, std::string message,
                    std::string action);

}  // namespace krater::controllers
