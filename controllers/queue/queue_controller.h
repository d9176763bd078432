// Queues: root and default are always there; every queue has a parent, a state that follows
// commands and its parent, and counts of its PodGroups by phase. Which queue may be deleted is
// decided where objects are admitted.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_queue_controller();

}  // namespace krater::controllers
