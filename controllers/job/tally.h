// Counts pods exactly once, across crashes, as Kubernetes does it: the uid of an ended pod is first
// stored in status.uncountedTerminatedPods, then the pod loses the tracking finalizer, and only
// when it has lost it does the uid become one in the counters. A pod with the finalizer cannot
// disappear uncounted. Of indexed Jobs the succeeded pods are not listed: adding an index twice to
// completedIndexes is harmless. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/job/job_status.h"
#include "controllers/job/pod_fact.h"
#include "model/index_set.h"

namespace krater::controllers {

struct Tally {
  // Everything known to have ended, stored or not.
  std::int64_t succeeded = 0, failed = 0;
  IndexSet completed{}, failed_indexes{};  // of indexed Jobs
  // With retries counted per index: the last failed pod of an index that still waits for its
  // replacement. It keeps the finalizer until then, because the index' failures are counted on the
  // pods themselves.
  std::map<std::int64_t, PodFact> awaiting_retry{};
  std::string fail_job_message{};  // a podFailurePolicy rule FailJob matched
  bool tracked_left = false;       // some pod holds the finalizer
  JobStatus status{};              // counters, lists and indexes as they shall be stored
  std::vector<PodFact> release{};  // lose the finalizer once `status` is stored
};

Tally tally(const JobView& job, const std::vector<PodFact>& pods);

}  // namespace krater::controllers
