// Autoscalers of autoscaling/v1 are stored as autoscaling/v2, which says more. What v1 has no field
// for stands in annotations of its form, so that a client of v1 writes back what it read. Pure.
#pragma once

#include "base/json.h"

namespace krater::api {

void autoscaler_to_v2(Json& autoscaler);
void autoscaler_from_v2(Json& autoscaler);

}  // namespace krater::api
