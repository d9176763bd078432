// What happens to a pod because of its node. Pure.
#pragma once

#include <optional>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/node.h"
#include "model/pod.h"

namespace krater::controllers {

// When the pod has to leave a node with these taints: at once (a time in the past) when one is not
// tolerated, after the shortest tolerationSeconds otherwise; nullopt: never.
std::optional<WallTime> eviction_time(const std::vector<Toleration>& tolerations,
                                      const std::vector<TimedTaint>& taints);

// Condition DisruptionTarget, then a graceful delete.
Plan evict(const PodView& pod, WallTime now);
// Its node does not exist: it is told to have failed, then removed without waiting for anybody. Two
// steps.
void remove_orphan(const PodView& pod, WallTime now, std::vector<PlannedWrite>& marks,
                   std::vector<PlannedWrite>& deletes);
// Ready=False, because nobody knows better.
PlannedWrite mark_not_ready(const PodView& pod, WallTime now);

}  // namespace krater::controllers
