// What of an object a simulation looks at, looked through: where a server would have refused it, or
// where nobody could mean what it says. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "model/object.h"

namespace krater::replay {

inline constexpr std::string_view kSubmitAt = "krater.io/sim-submit-at";

// RFC 3339, of 1970 to 2200: any two of them are within what a Duration holds.
std::optional<WallTime> parse_time(std::string_view text);

// "" when it is good; else the field and what is wrong with it.
std::string object_problem(const Kind& kind, const Json& object);

// It has ended, or is on its way out, or is held back by its owner: nothing of it is to come.
bool is_over(const Kind& kind, const Json& object);
// Of a pod: "Job/default/train", by its controller; "" when it has none.
std::string controller_of(const Json& pod, const std::string& name_space);

}  // namespace krater::replay
