// One pass over a Job: what is seen, and what shall be done. Pure.
//
//   running ──(find_ending)──> SuccessCriteriaMet ──(no pod left, all counted)──> Complete
//   ──(ttl)──> deleted
//      │  └──────────────────> FailureTarget      ──(no pod left, all counted)──> Failed ──(ttl)──>
//      deleted └─(spec.suspend)─> Suspended ─(resumed: the deadline starts anew)─> running
//
// Status is stored before pods lose their finalizer, and before pods are made or removed; so a
// crash between the steps costs a repeated step, never a pod counted twice or not at all.
#pragma once

#include <string>
#include <vector>

#include "controllers/job/pod_fact.h"
#include "controllers/job/pod_template.h"
#include "controllers/loop/plan.h"

namespace krater::controllers {

struct JobObserved {
  JobView job;
  std::vector<PodFact> pods;  // those it controls
  PodNames names;             // taken: of pods in its namespace
};

Plan step(const JobObserved& seen, WallTime now);

// The tracking finalizer off one pod.
PlannedWrite untrack(const ObjectPtr& pod);

}  // namespace krater::controllers
