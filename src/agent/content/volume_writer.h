// Puts volumes on disk. Files of one volume change all at once: readers see the old set or the new
// one, through the link `..data`, as a kubelet's atomic writer does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/content/volumes.h"
#include "base/result.h"

namespace krater::agent {

// Makes the volume or brings its files up to date; does nothing when they are. `group`: fsGroup.
Result<void> write_volume(const Volume& volume, std::optional<std::int64_t> group);

// Bytes that the files below `path` take on disk; looks at 100,000 entries at most.
std::int64_t disk_usage(const std::string& path);

}  // namespace krater::agent
