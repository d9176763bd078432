// One pass over a DaemonSet: what is seen, and what shall be done. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controllers/apps/app_pod.h"
#include "controllers/apps/revisions.h"
#include "model/node.h"

namespace krater::controllers {

struct DaemonSetSeen {
  DaemonSetView set;
  std::vector<NodeView> nodes;
  std::vector<AppPod> pods;                                           // those it controls
  std::vector<ObjectPtr> revisions;                                   // those it controls
  std::function<bool(const std::string&)> revision_taken, pod_taken;  // names in its namespace
};

Plan daemon_set_step(const DaemonSetSeen& seen, WallTime now);

}  // namespace krater::controllers
