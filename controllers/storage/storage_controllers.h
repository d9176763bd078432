// Persistent volumes and the claims for them: who gets which, directories made on demand, and the
// claims that pods describe themselves.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

// Binds claims, has volumes made for them, and keeps claims while pods use them.
std::unique_ptr<Reconciler> make_claim_controller();
// Keeps the phase of volumes and carries out their reclaim policy.
std::unique_ptr<Reconciler> make_volume_controller();
// Makes the claims of ephemeral volumes.
std::unique_ptr<Reconciler> make_ephemeral_volume_controller();

}  // namespace krater::controllers
