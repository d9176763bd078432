// Rules that no schema can say about a RayJob, in KubeRay's order; the first failure wins. Pure.
#pragma once

#include <optional>
#include <string>

#include "model/rayjob.h"

namespace krater::controllers {

struct JobProblem {
  std::string
      reason;  // of the event: InvalidRayJobMetadata, InvalidRayJobSpec, InvalidRayJobStatus
  std::string message;
};

std::optional<JobProblem> judge_job(const RayJobView& job);

}  // namespace krater::controllers
