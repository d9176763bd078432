// Volcano's controllers read a job into types of their own and write it back whole: amounts in
// their canonical spelling, what is empty left out or written down. Two jobs that those types
// cannot tell apart have the same shape. Pure.
#pragma once

#include "base/json.h"

namespace krater::api {

// The shape of a job's spec.
Json volcano_job_shape(const Json& spec);

}  // namespace krater::api
