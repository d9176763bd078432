// YAML text to a JSON document, scalars typed as Kubernetes' own YAML reader types them (YAML 1.1:
// yes/no/on/off are booleans; quoted scalars are strings). Bounded in depth and in the size aliases
// may grow it to.
#pragma once

#include <string_view>

#include "base/json.h"

namespace krater {

// One document; an empty text is null. Code::BadRequest with the parser's words and line otherwise.
Result<Json> parse_yaml(std::string_view text);

}  // namespace krater
