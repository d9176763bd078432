// Changes of many members of an object at once.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace krater {

// Takes the members `names` out; the others keep their order. Linear in both, where erasing one by
// one moves the rest each time.
void erase_members(JsonObject& object, const std::vector<std::string>& names);

}  // namespace krater
