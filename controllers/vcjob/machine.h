// The states of a Volcano Job. Pure.
//
//                    ┌──────────(old pods gone)──────────── Restarting ──(maxRetry)──> Failed
//                    v                                        ^  ^
//   "" ──> Pending ──(enough pods)──> Running ──RestartJob ───┘  └──ResumeJob── Aborting, Aborted
//             ^                          │                                        ^
//             └──(too many pending)──────┤ AbortJob ──────────────────────────────┘
//                                        │ CompleteJob ──> Completing ──(quiet)──> Completed
//                                        │ TerminateJob ─> Terminating ─(quiet)──> Terminated
//                                        └(all pods ended, or minSuccess)──> Completed or Failed
//
// Actions work in Pending, Running and Restarting; ResumeJob in Aborting and Aborted. Where Volcano
// loses an AbortJob, CompleteJob or TerminateJob that comes while a job restarts, it is obeyed
// here.
#pragma once

#include <optional>
#include <string>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// Which pods an action takes away.
enum class Scope { Job, Target };

struct Reaction {
  VolcanoJobPhase next;
  Scope scope = Scope::Job;
  bool keep_finished = true;  // pods that have ended stay
  bool costs_retry = false;
};
// What an action does in a phase; nullopt: nothing beyond what every pass does.
std::optional<Reaction> reaction_to(VolcanoAction action, VolcanoJobPhase phase);

// Pending, Running, Restarting: pods are made.
bool is_active(VolcanoJobPhase phase);
// Completed, Failed, Terminated: nothing leads out, and the ttl runs.
bool is_over(VolcanoJobPhase phase);

struct Change {
  VolcanoJobPhase next;
  std::string reason, message;
};
// Where the counts of its pods alone lead a job.
std::optional<Change> follow_counts(const Observed& seen, const Counts& counts);

}  // namespace krater::controllers::vcjob
