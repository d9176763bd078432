// topology.volcano.sh HyperNode.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {
inline const Kind kHyperNode{"topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", false};
}  // namespace krater::kinds
