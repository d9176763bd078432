// The life of a RayJob. Pure: no client, no clock, no log.
//
//        ┌───────────── 22 ─────────────┐            8, 12, 17, 21
//        ▼                              │          ┌──◄──(an edit made the spec invalid)
//      New ──2──► ValidationFailed ─────┴──23──► Initializing
//     ▲ ▲ └─1──► Initializing ──4──► Running ──13──► Complete
//     │ │           │ │ │  └─3─► Waiting ─9─► │        (13: Ray is done and so is the submitter)
//     │ │           │ │ │           │ │       ├─14──► Failed ◄─6, 11─ (deadlines)
//     │ │           │ │ └──5──┐  10─┘ └─11─┐  │
//     │ │           │ │       ▼             │  │
//     │ └──20─ Suspended ◄─18─ Suspending ◄─┴16┤      (16: spec.suspend)
//     └───────19── Retrying ◄──7───────────────┴─15    (7, 15: a failure that backoffLimit allows
//     to repeat)
//
// Names of children are stored in the status before any child is made, so a restart at any point
// goes on from what is stored. Every phase's handler says what it wants; settle() counts attempts;
// the plan writes children before the status that tells of them.
#pragma once

#include <optional>
#include <vector>

#include "controllers/rayjob/job_seen.h"

namespace krater::controllers {

// What a phase's handler wants.
struct JobStep {
  RayJobStatus next{};
  std::vector<std::vector<PlannedWrite>> writes{};  // before the status
  std::vector<EventNote> events{};
  std::optional<Duration> look_again{};  // nothing wakes us earlier for this; the shortest counts
  std::optional<std::string> retry{};    // with back-off, and why

  void want(PlannedWrite write) { writes.push_back({std::move(write)}); }
  void look_within(Duration delay);
  void fail(std::string_view reason, std::string message);
};

// One pass.
Plan step_job(const JobSeen& seen, const JobRules& rules, WallTime now);

// One handler a phase, in on_<phase>.cc.
JobStep on_new(const JobSeen& seen, const JobRules& rules, WallTime now);
JobStep on_initializing(const JobSeen& seen, const JobRules& rules, WallTime now);
JobStep on_waiting(const JobSeen& seen, const JobRules& rules, WallTime now);
JobStep on_running(const JobSeen& seen, const JobRules& rules, WallTime now);
JobStep on_stopping(const JobSeen& seen, const JobRules& rules,
                    WallTime now);  // Suspending, Retrying
JobStep on_suspended(const JobSeen& seen);
JobStep on_finished(const JobSeen& seen, const JobRules& rules, WallTime now);  // Complete, Failed

// Guards shared by phases. True: the step is decided.
bool past_active_deadline(const JobSeen& seen, WallTime now, JobStep& step);
bool past_pre_running_deadline(const JobSeen& seen, WallTime now, JobStep& step);
// Makes the cluster when it is missing, copies its status when there is news. False: nothing
// further this pass.
bool ensure_cluster(const JobSeen& seen, const JobRules& rules, JobStep& step);

// What the dashboard should be asked about now, if anything.
struct DashboardWish {
  std::string job_id;
  Duration every{};
};
std::optional<DashboardWish> wants_polling(const JobSeen& seen);
// The RayJob is going and its Ray job should be stopped before.
bool wants_stop_call(const JobSeen& seen);

}  // namespace krater::controllers
