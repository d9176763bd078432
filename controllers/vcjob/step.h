// One pass over a Volcano Job, as a plan. Pure.
//
// An action is stored in the status (phase, version, retry count) before anything is taken away;
// what it takes away can then be told from the status, so a crash in between costs a repeated step
// and never a forgotten or doubled action.
#pragma once

#include "controllers/loop/plan.h"
#include "controllers/vcjob/choice.h"

namespace krater::controllers::vcjob {

// Carries an action out.
Plan act(const Observed& seen, const Chosen& chosen, WallTime now);
struct Settled {
  Plan plan{};
  bool counts_wait = false;  // they have changed, and are told a little later
};
// What every pass does in the job's phase: pods, PodGroup, plugins, counts, the end.
Settled settle(const Observed& seen, WallTime now);

}  // namespace krater::controllers::vcjob
