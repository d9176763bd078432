// A PodGroup for pods that the gang scheduler serves and that nobody has put into one: of their
// own, or one for all pods of a controller (ReplicaSet, StatefulSet, DaemonSet, batch Job). Lives
// on the control loop. Mirrors Volcano's pg-controller.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"

namespace krater::controllers {

struct PodGroupDeps {
  std::vector<std::string> scheduler_names;  // whose pods these are
  // Whether the API has a kind.
  std::function<bool(const Kind&)> served;
  std::string default_queue = "default";  // that of whoever names none
};

std::unique_ptr<Reconciler> make_pod_group_controller(PodGroupDeps deps);

}  // namespace krater::controllers
