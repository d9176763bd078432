#pragma once

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {

// What a job's spec says of pods that fail (podFailurePolicy) and of when it is done
// (successPolicy).
void check_job_policies(const RuleInput& in, FieldErrors& errors);

}  // namespace krater::api::rules
