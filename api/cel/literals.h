// What can be said of literals once the types are known: durations, timestamps, patterns and format
// strings that can never work; lists and maps of mixed types.
#pragma once

#include <vector>

#include "api/cel/syntax.h"

namespace krater::cel {

// Also compiles literal patterns into the tree.
void check_literals(Expr& root, std::vector<Issue>& issues);

}  // namespace krater::cel
