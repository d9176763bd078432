// Turns RayClusters into services and pods and keeps their status. Lives on the control loop.
// The decision (`plan_cluster`) is pure; the class only remembers, per cluster, which of its writes
// failed last.
#pragma once

#include <memory>

#include "controllers/batchscheduler/batch_scheduler.h"
#include "controllers/raycluster/cluster_seen.h"

namespace krater::controllers {

struct RayClusterDeps {
  const BatchScheduler& scheduler;  // outlives the controller
  ClusterOptions options{};
};

std::unique_ptr<Reconciler> make_raycluster_controller(RayClusterDeps deps);

// One pass. Status goes first: it tells what is, also when a later write fails.
Plan plan_cluster(const ClusterSeen& seen, const ClusterOptions& options,
                  const BatchScheduler& scheduler, WallTime now);

}  // namespace krater::controllers
