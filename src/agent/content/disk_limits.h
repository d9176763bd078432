// Whether a pod has written more to the node's disk than it may. Reads the disk.
#pragma once

#include <string>

#include "agent/pod/spec.h"

namespace krater::agent {

// Why the pod has to go, in a kubelet's words: an emptyDir beyond its sizeLimit, the pod beyond its
// containers' ephemeral-storage together, a container beyond its own. Empty: nothing.
// `directory`: the pod's on the node. Only what has a limit is looked at.
std::string disk_limit_broken(const PodSpec& pod, const std::string& directory);

}  // namespace krater::agent
