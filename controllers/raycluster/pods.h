// Turns what a RayCluster wants into pod writes: suspension, recreation, the gang object, head,
// worker groups. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/raycluster/cluster_seen.h"

namespace krater::controllers {

struct PodsPlan {
  std::vector<std::vector<PlannedWrite>> steps{};
  std::optional<Duration> look_again{};
  std::optional<WriteFailure> problem{};  // found without writing anything; told and retried
};

// `status`: as this pass leaves it (its suspend conditions decide).
PodsPlan plan_pods(const ClusterSeen& seen, const RayClusterStatus& status,
                   const ClusterOptions& options, const BatchScheduler& scheduler, WallTime now);

}  // namespace krater::controllers
