// The paths of OpenAPI documents: what kubectl looks for there. Pure.
#pragma once

#include <string>

#include "base/json.h"
#include "model/kinds.h"

namespace krater::api {

// "api/v1", "apis/batch/v1".
std::string group_version_path(const Kind& kind);
Json group_version_kind(const Kind& kind);
// "/api/v1/namespaces/{namespace}/pods/{name}"
std::string object_path(const Kind& kind);
// What may be done there. `native` kinds offer strategic merge; `version` 2 or 3.
Json object_operations(const Kind& kind, const std::string& component, bool native, int version);

}  // namespace krater::api
