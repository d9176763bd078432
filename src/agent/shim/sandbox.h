// One pod's surroundings, made by its shim: namespaces shared by its containers, address, shared
// memory, files in /etc, cgroups; and taking them down again. Blocks. In the shim.
#pragma once

#include <string>

#include "agent/process/codec.h"
#include "agent/shim/cgroup.h"
#include "agent/shim/files.h"

namespace krater::agent {

class SandboxHost {
 public:
  SandboxHost(std::string directory, ShimConfig config);

  // Moves the calling process into the new namespaces and sets everything up.
  Result<void> set_up();
  // Network, cgroups. May be called without set_up (after a shim that died); then by path alone.
  Result<void> take_down();

  const ShimConfig& config() const { return config_; }
  const std::string& directory() const { return directory_; }
  const std::string& ip() const { return ip_; }
  Cgroups& cgroups() { return cgroups_; }
  // The process namespace that all containers share, open; -1 when each has its own or the node's.
  int shared_processes() const { return shared_processes_.get(); }
  std::string file(const std::string& name) const { return directory_ + "/" + name; }

 private:
  Result<void> set_up_namespaces();
  Result<void> set_up_network();
  Result<void> write_etc();
  Result<void> share_processes();

  std::string directory_;
  ShimConfig config_;
  Cgroups cgroups_;
  Fd host_netns_;
  Fd shared_processes_;
  std::string ip_;
  bool has_network_ = false;
};

}  // namespace krater::agent
