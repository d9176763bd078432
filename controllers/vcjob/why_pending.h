// Why a job is pending, in its own status. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// Puts it into status.state of a job that has been pending for a while, and takes it out again.
// `group_news`: why its PodGroup waits, as it was told last. Returns how long until it is to be
// told, where that is still to come.
std::optional<Duration> note_why_pending(const std::string& group_news, Observed& seen,
                                         WallTime now);

}  // namespace krater::controllers::vcjob
