// What a pod's volumes are on the node: where they lie, and which files the agent puts into them.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/content/sources.h"
#include "agent/runtime.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::agent {

struct VolumeFile {
  std::string path;  // relative, without ".."
  std::string bytes;
  unsigned mode = 0644;
};

struct Volume {
  // Directory: of a persistent volume, made when it is not there and kept when the pod goes.
  enum class Kind { EmptyDir, Memory, HostPath, Files, Directory };
  std::string name, path;  // where it lies on the node
  Kind kind = Kind::EmptyDir;
  std::int64_t size_limit = 0;    // EmptyDir, Memory; 0: none
  std::string host_path_type;     // HostPath
  std::vector<VolumeFile> files;  // Files
  bool read_only = false;
};

// `directory`: the pod's on the node. Code::Unavailable when a source is missing (it may come),
// Code::Invalid when a volume is of a kind the agent does not have.
Result<std::vector<Volume>> pod_volumes(const PodFacts& pod, const Sources& sources,
                                        const std::string& directory);
// Those that must be there when the sandbox is made. None is larger than the pod's memory limit or
// the node's allocatable memory (0: not known).
std::vector<MemoryVolume> memory_volumes(const Json& pod, const std::string& directory,
                                         std::int64_t node_memory_bytes);
// Disk-backed emptyDirs with a sizeLimit.
std::vector<Volume> limited_volumes(const Json& pod, const std::string& directory);
// The container's mounts, parents first; `environment` serves subPathExpr. Code::Invalid for a path
// that leads out.
Result<std::vector<Mount>> container_mounts(
    const Json& container, const std::vector<Volume>& volumes,
    const std::function<std::string(std::string_view)>& expand_text);

}  // namespace krater::agent
