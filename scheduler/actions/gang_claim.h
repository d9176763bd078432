// Finds places for what a gang still lacks, for the actions that make others leave: task by task,
// or, where the PodGroup has sub-groups, sub-group by sub-group, each whole or not at all.
#pragma once

#include <deque>
#include <functional>

#include "scheduler/statement.h"

namespace krater::scheduler {

// Tries these tasks, first to last, until, after one that found a place, it is `enough`.
using ClaimSome = std::function<void(Statement&, const std::deque<std::uint32_t>& tasks,
                                     const std::function<bool()>& enough)>;

// Of `tasks`, the job's claiming_tasks. True when the gang has all it needs, once those that are to
// leave have left. Otherwise what was done stays to be rolled back.
bool claim_for_gang(Session& session, Statement& statement, JobId job,
                    std::deque<std::uint32_t> tasks, const ClaimSome& some);

// The job, or a sub-group of it, is to be in one network domain. Room there is gangpreempt's and
// gangreclaim's to make.
bool wants_domain(const Session& session, JobId job);

}  // namespace krater::scheduler
