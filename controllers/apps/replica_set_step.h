// One pass over a ReplicaSet: what is seen, and what shall be done. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/apps/deletion_order.h"
#include "controllers/loop/plan.h"
#include "model/workload.h"

namespace krater::controllers {

// What kept the last pass from having all its pods made or taken away.
struct ReplicaFailure {
  std::string reason;  // "FailedCreate", "FailedDelete"
  std::string message;
};

struct ReplicaSetSeen {
  ReplicaSetView set;
  std::vector<AppPod> pods;                            // those it controls
  std::function<PodsByNode()> related;                 // asked only when pods must go
  std::function<bool(const std::string&)> name_taken;  // of pods in its namespace
  std::optional<ReplicaFailure> failure{};
};

Plan replica_set_step(const ReplicaSetSeen& seen, WallTime now);

}  // namespace krater::controllers
