// Whether two documents say the same, whatever the order of their members: boost's == without the
// copy that it makes of every member it compares.
#pragma once

#include "base/json.h"

namespace krater {

bool same_json(const Json& a, const Json& b);

}  // namespace krater
