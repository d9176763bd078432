// A node as the API shows it: labels, capacity, conditions, addresses, nodeInfo, and its lease.
// Pure.
#pragma once

#include <string>

#include "agent/context.h"
#include "agent/node/pressure.h"
#include "base/json.h"
#include "base/time.h"
#include "model/object.h"

namespace krater::agent {

// What only the machine (or a simulation's script) knows.
struct NodeInfo {
  std::string architecture = "amd64", operating_system = "linux", kernel_version, os_image,
              machine_id, boot_id, system_uuid;
  std::string runtime_version = "krater://0.1.0";  // containerRuntimeVersion
  std::string version = "v1.32.0+krater";          // kubeletVersion
  Labels labels{};                                 // beside the well-known ones
  std::string volumes_directory{};  // where persistent volumes may be made; "": nowhere
};

// For registration: metadata with labels, and spec.
Json node_object(const NodeFacts& facts, const NodeInfo& info);
// Labels a node keeps for itself; others on the object are its users'.
Labels node_labels(const NodeFacts& facts, const NodeInfo& info);
// Likewise for annotations.
Labels node_annotations(const NodeInfo& info);
// The whole status; transition times and foreign conditions are taken from `current` (a Node, or
// null).
Json node_status(const NodeFacts& facts, const NodeInfo& info, const Pressures& pressures,
                 const Json* current, WallTime now);
// True when the object does not say of the node what it says of itself (other than times).
bool node_needs_status(const NodeFacts& facts, const NodeInfo& info, const Pressures& pressures,
                       const Json& current);
Json lease_object(const NodeFacts& facts, const Object* node, WallTime now);

inline constexpr std::string_view kLeaseNamespace = "kube-node-lease";
inline constexpr int kLeaseSeconds = 40;

}  // namespace krater::agent
