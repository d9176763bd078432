// What the collector does with one object, given what is known of its owners and dependents. Pure.
// Mirrors Kubernetes' garbage collector, 3.7 of its API conventions in our specification:
//
//   being deleted, foregroundDeletion   wait until no dependent with blockOwnerDeletion is left,
//   drop the finalizer being deleted, orphan               drop the reference from all dependents,
//   then the finalizer some owner there                    drop references to owners that are gone
//   or wait for their dependents no owner there, one waits           delete; in foreground when it
//   has dependents itself all owners gone                     delete
#pragma once

#include <vector>

#include "controllers/loop/plan.h"

namespace krater::controllers {

enum class OwnerState {
  Present,
  Waiting,  // being deleted in foreground
  Gone,
  Unknown,   // not seen and not verified: nothing is done because of it
  Unserved,  // its kind is not served (yet): neither
  Forbidden  // a namespaced owner of a cluster-scoped object: ignored, and told
};

struct OwnerFact {
  OwnerReference reference;
  OwnerState state = OwnerState::Unknown;
};

struct GcObserved {
  Kind kind;
  ObjectPtr object;
  std::vector<OwnerFact> owners;
  struct Dependent {
    Kind kind;
    ObjectPtr object;
  };
  std::vector<Dependent> dependents;
};

Plan decide(const GcObserved& seen);

}  // namespace krater::controllers
