// What a node's silence and its conditions mean for the node. Pure. Mirrors Kubernetes' node
// lifecycle controller.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/node.h"

namespace krater::controllers {

inline constexpr Duration kNodeGrace = std::chrono::seconds(40);

// Marks the conditions a kubelet should have posted as Unknown. nullopt when they say so already.
std::optional<Json> silenced_status(const NodeView& node, WallTime now);

// spec.taints as the node's conditions and spec.unschedulable want them; foreign taints stay. A
// NoExecute taint has a time from which tolerations count, also one that a user put there without.
// nullopt when nothing changes.
std::optional<JsonArray> wanted_taints(const NodeView& node, WallTime now);

}  // namespace krater::controllers
