// One pass over a PersistentVolume: its phase, and what becomes of it when its claim is gone. Pure.
//
//   Available --(a claim has it)--> Bound --(the claim is gone)--> Released --(Delete)--> gone
//                                                                          --(cannot)--> Failed
#pragma once

#include "controllers/loop/plan.h"
#include "model/storage.h"

namespace krater::controllers {

struct VolumeSeen {
  PersistentVolumeView volume;
  PersistentVolumeClaimView claim;  // that spec.claimRef names, when it is there
  bool node_gone = false;           // of a directory: nobody is left to remove it
};

Plan volume_step(const VolumeSeen& seen, WallTime now);

}  // namespace krater::controllers
