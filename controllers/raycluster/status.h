// The status of a RayCluster from what is seen. Pure. Mirrors KubeRay: `state` becomes ready once
// and stays; conditions tell the truth.
#pragma once

#include "controllers/raycluster/cluster_seen.h"

namespace krater::controllers {

// The next status. lastUpdateTime is touched only when there is news.
RayClusterStatus next_cluster_status(const ClusterSeen& seen, WallTime now);

}  // namespace krater::controllers
