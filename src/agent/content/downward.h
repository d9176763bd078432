// The downward API: what a pod may know of itself. Pure.
#pragma once

#include <string>
#include <string_view>

#include "agent/content/sources.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::agent {

// `path` as in fieldRef.fieldPath, also metadata.labels['k'] and whole maps (one key="value" a
// line). Code::Invalid for a path there is none of.
Result<std::string> field_value(std::string_view path, const PodFacts& pod);
// A resourceFieldRef; `container` is the one it stands in. Rounded up to whole divisors; a limit
// that is not set is what the node can give.
Result<std::string> resource_value(const Json& reference, const Json& container,
                                   const PodFacts& pod);

}  // namespace krater::agent
