// spec.podFailurePolicy: what a failed pod means. The first rule that matches decides; without one
// a failure counts, unless the scheduler gave the pod's place to others. Pure.
#pragma once

#include <string>

#include "model/job.h"
#include "model/pod.h"

namespace krater::controllers {

enum class FailureAction { Count, Ignore, FailIndex, FailJob };

struct FailureVerdict {
  FailureAction action = FailureAction::Count;
  std::string message{};  // of FailJob: which pod, which rule

  bool counts() const { return action != FailureAction::Ignore; }
};

FailureVerdict judge_failure(const JobView& job, const PodView& failed);

}  // namespace krater::controllers
