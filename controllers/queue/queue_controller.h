// Queues: root and the default one are always there; every queue has a parent, a state that follows
// commands and its parent, and counts of its PodGroups by phase. Which queue may be deleted is
// decided where objects are admitted.
#pragma once

#include <memory>
#include <string>

#include "controllers/loop/plan.h"

namespace krater::controllers {

// `default_queue`: that of whoever names none.
std::unique_ptr<Reconciler> make_queue_controller(std::string default_queue = "default");

}  // namespace krater::controllers
