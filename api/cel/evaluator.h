// Walks a checked tree over the values of its variables, counting what it costs as Kubernetes does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/cel/program.h"
#include "api/cel/syntax.h"

namespace krater::cel {

Outcome evaluate(const Expr& root, const std::vector<Variable>& variables,
                 const std::vector<std::optional<Value>>& bound, std::uint64_t cost_limit);

}  // namespace krater::cel
