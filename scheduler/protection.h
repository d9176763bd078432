// Why nobody was made to leave for a job although there are some whose places it could use: who of
// them is kept by what, in words and numbers. Pure.
#pragma once

#include <string>

#include "scheduler/victim_votes.h"

namespace krater::scheduler {

// `candidates`: all that come into question, with those who say of themselves that they do not go.
// "" when nobody of them is kept for his own sake.
std::string who_is_kept(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                        Asking asking);

// The pod and its group let it go (volcano.sh/preemptable).
bool lets_itself_go(const Session& session, TaskRef one);

// Adds it to what the job is told, unless that has been said.
void tell_why_nobody_leaves(Session& session, JobId job, const std::string& words);

}  // namespace krater::scheduler
