// topology.volcano.sh HyperNode: which nodes, or other HyperNodes, its members name. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/json.h"
#include "model/kinds.h"
#include "model/object.h"

namespace krater {

namespace kinds {
inline const Kind kHyperNode{"topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", false};
}

// The nodes that a HyperNode holds, itself and through others. A member that does not exist, and a
// circle of members, adds none. `documents`: all HyperNodes by name; `nodes`: all nodes' labels.
std::set<std::string> nodes_within(
    const std::string& hyper_node,
    const std::map<std::string, std::shared_ptr<const Json>>& documents,
    const std::map<std::string, const Labels*>& nodes);

}  // namespace krater
