// What must come true in the end: each rule looks at the store as it is now and says what is still
// missing. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/object.h"
#include "sim/ray_dashboards.h"
#include "sim/user.h"
#include "storage/store.h"

namespace krater::sim {

std::vector<ObjectPtr> objects_of(const storage::Snapshot& state, const Kind& kind);
// Null when it is not there.
ObjectPtr object_at(const storage::Snapshot& state, const Kind& kind, const std::string& name_space,
                    const std::string& name);

// What is not written in the store.
struct Elsewhere {
  std::vector<User::Made> made;  // by the user
  std::vector<RayDashboards::Program> programs;
  bool heads_die = false;  // a program whose head has died may be submitted to the next one
};
// `rule`: a name as in Scenario::finally, other than watchers_know_the_truth.
std::optional<std::string> missing(const std::string& rule, const storage::Snapshot& state,
                                   const Elsewhere& elsewhere);
// After the user has deleted all of it: whatever came of his objects and is still there.
std::optional<std::string> left_over(const storage::Snapshot& state);

}  // namespace krater::sim
