// Objects that single plugins look at and the cache only keeps: budgets, quotas, hypernodes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/hyper_node.h"
#include "model/object.h"

namespace krater::scheduler {

struct Surroundings {
  using Place = std::pair<std::string, std::string>;  // namespace, name
  std::map<Place, ObjectPtr> budgets{};               // PodDisruptionBudgets
  std::map<Place, ObjectPtr> quotas{};                // ResourceQuotas
  std::map<Place, ObjectPtr> hyper_nodes{};
  std::map<Place, ObjectPtr> numa{};  // Numatopologies
};

// volcano.sh's HyperNode and Numatopology, as they are asked for where the server has them.
inline const Kind& kHyperNodeKind = kinds::kHyperNode;
inline const Kind kNumatopologyKind{"nodeinfo.volcano.sh", "v1alpha1", "Numatopology",
                                    "numatopologies", false};

}  // namespace krater::scheduler
