// YAML text to a JSON document and back, scalars typed as Kubernetes' own YAML reader types them
// (YAML 1.1: yes/no/on/off are booleans; quoted scalars are strings). Bounded in depth and in the
// size aliases may grow it to.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace krater {

// One document; an empty text is null. Code::BadRequest with the parser's words and line otherwise.
Result<Json> parse_yaml(std::string_view text);
// Block style; parse_yaml() of it gives `document` back.
std::string to_yaml(const Json& document);

}  // namespace krater
