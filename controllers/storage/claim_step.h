// One pass over a PersistentVolumeClaim: which volume it gets, and that it stays while pods use it.
// Pure.
//
//   Pending --(a volume fits, or is made for it)--> Bound --(its volume is gone)--> Lost
//
// A class that waits for its first consumer is bound when the scheduler has named the node, either
// by a volume that it reserved (spec.claimRef) or by the annotation of the chosen node.
#pragma once

#include <functional>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/storage.h"

namespace krater::controllers {

struct ClaimSeen {
  PersistentVolumeClaimView claim;
  PersistentVolumeView volume;                // spec.volumeName, when it is there
  std::vector<PersistentVolumeView> volumes;  // all of them; only for a claim without one
  StorageClassView storage_class;             // of its class, when it is there
  ObjectPtr node;                             // the chosen one, when it is there
  bool in_use = false;                        // by a pod on a node
};

Plan claim_step(const ClaimSeen& seen);

}  // namespace krater::controllers
