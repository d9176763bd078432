// Users' kinds in OpenAPI documents, beside what is built in. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/machinery/custom/custom_kind.h"

namespace krater::api {

// `version` 2 or 3. `document`: what there is without them; nullopt: nothing.
std::string with_custom_kinds(int version, const std::optional<std::string>& document,
                              const std::vector<std::shared_ptr<const CustomKind>>& kinds);

}  // namespace krater::api
