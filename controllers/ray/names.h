// Names of what belongs to a RayCluster, as KubeRay derives them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "model/raycluster.h"

namespace krater::controllers {

// Label values: the last 63 characters; leading punctuation becomes `r`.
std::string label_value(std::string_view text);
// Pod names without their suffix: at most the first 50 characters of the prefix, "-head" or
// "-worker", lower case.
std::string head_pod_base(std::string_view cluster);
std::string worker_pod_base(std::string_view cluster, std::string_view group);
// headService.metadata.name, else "<cluster>-head-svc".
std::string head_service_name(std::string_view cluster, const RayClusterSpec& spec);
std::string service_fqdn(std::string_view service, std::string_view name_space,
                         std::string_view cluster_domain);
// 5 characters of Kubernetes' safe alphabet that depend on `seed` alone.
std::string suffix_of(std::string_view seed);

}  // namespace krater::controllers
