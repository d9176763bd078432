// Events of events.k8s.io are stored as core events; the two differ in the names of fields. Pure.
#pragma once

#include "base/json.h"

namespace krater::api {

void event_to_core(Json& event);
void event_from_core(Json& event);

}  // namespace krater::api
