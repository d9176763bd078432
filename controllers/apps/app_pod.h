// What one pod means to the set it belongs to. Pure.
#pragma once

#include <optional>

#include "model/pod.h"

namespace krater::controllers {

struct AppPod {
  ObjectPtr object;
  PodPhase phase = PodPhase::Pending;
  bool deleting = false;
  bool assigned = false;
  std::optional<WallTime> ready_since{};  // nothing: not ready
  std::int64_t restarts = 0;              // of its most restarted container
  std::int64_t deletion_cost = 0;
  std::string node{};

  bool ended() const { return phase == PodPhase::Succeeded || phase == PodPhase::Failed; }
  bool active() const { return !ended() && !deleting; }
  bool ready() const { return ready_since.has_value(); }
  bool available(std::int64_t min_ready_s, WallTime now) const;
  const std::string& name() const { return object->name(); }
};

AppPod app_pod_of(const ObjectPtr& pod);

// When the first pod that is ready but not available will be: time left, nothing when none is.
std::optional<Duration> until_available(const std::vector<AppPod>& pods, std::int64_t min_ready_s,
                                        WallTime now);

}  // namespace krater::controllers
