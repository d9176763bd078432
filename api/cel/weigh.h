// How much there is to look at in a value: what comparing or showing all of it takes. Shared parts
// count each time they are met, because they are looked at each time.
#pragma once

#include <cstdint>

#include "api/cel/value.h"

namespace krater::cel {

// Parts of the value, counted no further than a little beyond `most`.
std::uint64_t weigh(const Value& value, std::uint64_t most);

}  // namespace krater::cel
