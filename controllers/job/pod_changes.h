// Which pods a running Job lacks and which are too many. Pure.
#pragma once

#include <optional>
#include <vector>

#include "controllers/job/pod_template.h"
#include "controllers/job/tally.h"

namespace krater::controllers {

struct PodChanges {
  std::vector<NewPod> create{};
  std::vector<PodFact> remove{};        // too many: lose the finalizer first, they do not count
  std::optional<Duration> come_back{};  // a replacement waits for its back-off
};

PodChanges wanted_changes(const JobView& job, const std::vector<PodFact>& pods, const Tally& tally,
                          const PodNames& names, WallTime now);

}  // namespace krater::controllers
