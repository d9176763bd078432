// What the Ray controllers share about clusters: their settings, the context of a cluster's pods,
// and who wakes whom.
#pragma once

#include "controllers/loop/plan.h"
#include "controllers/ray/pod_builder.h"

namespace krater::controllers {

struct ClusterOptions {
  std::string cluster_domain = "cluster.local";
  std::string version = "krater-0.1.0";  // tells pods made here from KubeRay's
};

// The context to build this cluster's pods in. Refers to the view's document.
PodContext context_of(const RayClusterView& cluster, const ClusterOptions& options);

// Wakes the controller owner of `child` when it is of kind `owner`.
Interest owned_by(const Kind& child, const Kind& owner);

}  // namespace krater::controllers
