// The row of a webhook configuration, beside those of cells.h.
#pragma once

#include "base/json.h"
#include "base/time.h"

namespace krater::api::cells {

JsonArray webhook_configuration(const Json& object, WallTime now);

}  // namespace krater::api::cells
