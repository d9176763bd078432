// Writes that claims and volumes share. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/storage.h"

namespace krater::controllers {

// Only while nobody else has changed the volume.
PlannedWrite patch_volume(const Object& volume, Json patch);
PlannedWrite write_status(const Kind& kind, const Json& document, const Object& object,
                          Json status);
PlannedWrite drop_finalizers(const Kind& kind, const Object& object,
                             const std::vector<std::string_view>& names);

}  // namespace krater::controllers
