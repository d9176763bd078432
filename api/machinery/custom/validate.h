// A user's value against its schema, as kube-apiserver's OpenAPI validation judges it: same
// messages, same reasons, same quirks. Pure.
#pragma once

#include <vector>

#include "api/machinery/custom/structural.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// What is as it was in `old` (the value before, null on create) may stay as it is, even where the
// schema has been tightened since. Fields are named from `value` on.
std::vector<Cause> validate_custom(const Structural& schema, const Json& value, const Json* old);

// Items of lists of kind Set and Map that are there twice.
std::vector<Cause> validate_lists(const Structural& schema, const Json& value);

}  // namespace krater::api
