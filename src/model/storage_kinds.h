// Volumes, claims for them and their classes, beside the kinds of model/kinds.h.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

extern const Kind kPersistentVolume, kPersistentVolumeClaim, kStorageClass;

}  // namespace krater::kinds
