// The worst cost an expression can have, from the sizes that the types of its variables allow. What
// Kubernetes decides by whether a rule may be stored at all, so it follows the original's reckoning
// step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "api/cel/checker.h"
#include "api/cel/syntax.h"

namespace krater::cel {

std::uint64_t estimate_cost(const Expr& root, const std::vector<Variable>& variables);

}  // namespace krater::cel
