// The `ray start` command line of a group. Pure.
#pragma once

#include <string>

#include "model/raycluster.h"

namespace krater::controllers {

inline constexpr std::string_view kGcsPort = "6379";
inline constexpr std::string_view kDashboardPort = "8265";
inline constexpr std::string_view kAgentPort = "52365";
inline constexpr std::string_view kMetricsPort = "8080";

// Counts as a GPU: "nvidia.com/gpu", any name ending in "gpu", MIG slices.
bool is_gpu_resource(std::string_view name);

// rayStartParams of the group with everything Ray needs filled in. `gcs_address`: "host:port", for
// workers.
Labels complete_start_params(const RayGroupSpec& group, const std::string& gcs_address);
// "ray start --head  --block  --num-cpus=1 …": keys in byte order, no shell quoting.
std::string start_command(bool head, const Labels& params);
// The GCS port of a cluster: the head's rayStartParams.port, else 6379.
std::string gcs_port(const RayClusterSpec& spec);

}  // namespace krater::controllers
