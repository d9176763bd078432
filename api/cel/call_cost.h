// The price of one call that was made.
#pragma once

#include <cstdint>

#include "api/cel/overload.h"
#include "api/cel/syntax.h"

namespace krater::cel {

std::uint64_t call_cost(const Expr& call, Args args, const Value& result);
// Whether the price depends on what comes out.
bool priced_by_result(Cost cost);
// Whether the price belongs to the function's name, whichever overload was meant.
bool priced_by_name(Cost cost);

}  // namespace krater::cel
