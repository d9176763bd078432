// Part of the rule `service_spec`. Pure.
#pragma once

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {

void check_service_exposure(const RuleInput& in, FieldErrors& errors);

}  // namespace krater::api::rules
