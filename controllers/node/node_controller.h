// Node lifecycle: silent nodes become Unknown and tainted, their pods not ready and, when they
// tolerate it no longer, evicted; pods of nodes that are gone are removed; of finished pods a
// bounded number is kept.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_node_controller();

// Removes the oldest finished pods when there are more than this. 0 keeps all.
std::unique_ptr<Reconciler> make_pod_gc_controller(std::size_t finished_pods_kept = 12500);

}  // namespace krater::controllers
