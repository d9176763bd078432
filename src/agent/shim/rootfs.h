// A container's view of the filesystem. Called in the container's first process, inside its own
// mount namespace: everything mounted here vanishes with it, and nothing is ever written to the
// host's own tree. In the shim's child.
#pragma once

#include <string>
#include <vector>

#include "agent/process/codec.h"
#include "base/result.h"

namespace krater::agent {

struct RootfsPlan {
  std::string directory;      // DIR/containers/<name>: upper, work and the mount point lie here
  std::string pod_directory;  // DIR
  std::string lower = "/";    // the host's tree, or an image's
  bool read_only = false, privileged = false, own_network = true, own_processes = true;
  std::vector<std::string> hidden;  // shown empty
  std::vector<std::string> kept;    // shown read-only even below a hidden directory: image paths
  std::vector<Mount> mounts;        // volumes, parents first
  std::vector<Mount> files;         // /etc/hosts and the like
  std::vector<std::pair<std::string, std::string>>
      cgroups;  // group on the host -> path below /sys/fs/cgroup
};

// Before the container's process exists: empties and makes what enter_rootfs needs on disk.
Result<void> prepare_rootfs(const RootfsPlan& plan);
// Builds the tree and makes it the root of the calling process.
Result<void> enter_rootfs(const RootfsPlan& plan);

}  // namespace krater::agent
