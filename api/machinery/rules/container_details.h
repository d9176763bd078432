// Part of the rule `pod_spec`. Pure.
#pragma once

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {

// What a container's mounts say together, and the headers of its probes and hooks.
void check_container_details(const Json& container, const FieldPath& path, FieldErrors& errors);

}  // namespace krater::api::rules
