// A few values out of a document, without a tree of all of it: for those who look at every object
// that passes by and only need to know who it is.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"

namespace krater {

using JsonFieldPath = std::vector<std::string_view>;  // of object keys; at least one

// An object with what the document has at these paths; what is not there is left out. The text is
// checked as parse_json checks it without options: Code::BadRequest for whatever parse_json would
// refuse. No path may lead through the end of another one.
Result<Json> parse_json_fields(std::string_view text, const std::vector<JsonFieldPath>& paths);

}  // namespace krater
