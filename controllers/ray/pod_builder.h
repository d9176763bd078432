// Builds the pods of a RayCluster from its templates. Pure; what the template says and we do not
// know survives. Mirrors KubeRay's pod builder field by field, so that Ray starts exactly as it
// does there.
#pragma once

#include <optional>
#include <string>

#include "model/raycluster.h"

namespace krater::controllers {

// What a pod needs to know of its cluster. `spec` refers to a document the caller keeps.
struct PodContext {
  std::string cluster, name_space;
  Labels cluster_annotations{};
  std::string origin_kind = "RayCluster";  // "RayJob" when a RayJob made the cluster
  std::string cluster_domain = "cluster.local";
  std::string version;  // of the operator, as pods and Ray's usage tags report it
  RayClusterSpec spec;

  std::string head_fqdn() const;
  std::string gcs_address() const;  // FQDN:port
};

// A worker's place in its group.
struct ReplicaSlot {
  std::int64_t index = 0;
  std::int64_t host = 0;
  std::string replica_name{};  // only for groups of several hosts
};

// Complete pods except metadata.name, ownerReferences and the batch scheduler's marks.
Json build_head_pod(const PodContext& context);
Json build_worker_pod(const PodContext& context, const RayGroupSpec& group,
                      const ReplicaSlot& slot);

// Identifies the part of a spec whose change recreates pods under upgradeStrategy Recreate:
// everything but replica counts, workersToDelete, tolerations, scheduling gates and the strategy
// itself.
std::string recreate_hash(const RayClusterSpec& spec);

}  // namespace krater::controllers
