// What one pass of the RayCluster controller looks at: objects as the cache has them, nothing else.
// Values only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "controllers/batchscheduler/batch_scheduler.h"
#include "controllers/ray/cluster_context.h"
#include "model/pod.h"
#include "model/pod_overhead.h"

namespace krater::controllers {

// A write of the pass before that failed: its mark ("FailedCreateHeadPod") and the error's text.
struct WriteFailure {
  std::string mark, message;
};

struct ClusterSeen {
  RayClusterView cluster{};
  std::vector<PodView> pods{};  // controlled by the cluster, by name
  ObjectPtr head_service{}, headless_service{}, serve_service{}, pod_group{};
  // Newest revision of any pod in view. New pods are named by it: the same view gives the same
  // names, so repeating a create is harmless, and a name never comes back.
  std::int64_t pods_at = 0;
  std::function<bool(const std::string& name)> pod_exists{};
  RuntimeClasses runtime_class{};
  std::optional<WriteFailure> failure{};
};

// Null `cluster` when there is no such object.
ClusterSeen observe_cluster(const ObjectKey& key, const client::Cache& cache,
                            const BatchScheduler& scheduler);
bool is_head_pod(const PodView& pod);
// Ended, or running on after its Ray container has ended for good.
bool is_unhealthy(const PodView& pod);
// Running, and not reported as anything but ready.
bool is_up(const PodView& pod);

}  // namespace krater::controllers
