// Source to a tree, macros expanded. Bounded against hostile input: 100,000 code points, 250
// levels.
#pragma once

#include <string_view>
#include <vector>

#include "api/cel/syntax.h"

namespace krater::cel {

// nullptr exactly when there are issues.
ExprPtr parse(std::string_view source, std::vector<Issue>& issues);

}  // namespace krater::cel
