// Part of the rule `pod_spec`. Pure.
#pragma once

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {

// Names, addresses and numbers that the schema's limits cannot say. What has not changed is not
// looked at again: older objects stay as they are.
void check_pod_details(const RuleInput& in, FieldErrors& errors);

}  // namespace krater::api::rules
