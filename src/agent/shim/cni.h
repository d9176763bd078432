// Runs CNI plugins for a sandbox: ADD gives it an interface and an address, DEL gives them back.
// Blocks while a plugin runs; used in the shim only.
#pragma once

#include <string>
#include <vector>

#include "agent/runtime.h"
#include "base/result.h"

namespace krater::agent {

struct CniCall {
  std::string bin_dir, config;  // of ShimConfig
  std::string container_id;
  std::string netns;    // path; may be gone for DEL
  int host_netns = -1;  // fd: plugins run in it
  std::vector<PortMapping> ports;
};

// The pod's first address.
Result<std::string> cni_add(const CniCall& call);
// Best effort: every plugin is asked, in reverse order; the first error is reported.
Result<void> cni_del(const CniCall& call);

}  // namespace krater::agent
