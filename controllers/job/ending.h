// Whether a Job has come to its end, and why. Pure.
//
// An end has two steps: first SuccessCriteriaMet or FailureTarget says how it will end and no pod
// is made any more; Complete or Failed follows when the last pod has stopped and is counted.
#pragma once

#include <optional>
#include <string>

#include "controllers/job/tally.h"

namespace krater::controllers {

struct Ending {
  bool success = false;
  std::string reason, message;
  std::string_view target() const { return success ? "SuccessCriteriaMet" : "FailureTarget"; }
  std::string_view terminal() const { return success ? "Complete" : "Failed"; }
};

// The checks in their order: what is already decided, success policy, failure policy, back-off
// limit, deadline, failed indexes, completions.
std::optional<Ending> find_ending(const JobView& job, const std::vector<PodFact>& pods,
                                  const Tally& tally, WallTime now);

// Until the active deadline passes; nullopt when there is none or it does not run.
std::optional<Duration> until_deadline(const JobView& job, const JobStatus& status, WallTime now);

}  // namespace krater::controllers
