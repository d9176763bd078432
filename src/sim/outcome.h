// What must come true in the end: each rule looks at the store as it is now and says what is still
// missing. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/object.h"
#include "sim/user.h"
#include "storage/store.h"

namespace krater::sim {

std::vector<ObjectPtr> objects_of(const storage::Snapshot& state, const Kind& kind);

// `rule`: a name as in Scenario::finally, other than watchers_know_the_truth. `made`: by the user.
std::optional<std::string> missing(const std::string& rule, const storage::Snapshot& state,
                                   const std::vector<User::Made>& made);
// After the user has deleted all of it: whatever came of his objects and is still there.
std::optional<std::string> left_over(const storage::Snapshot& state);

}  // namespace krater::sim
