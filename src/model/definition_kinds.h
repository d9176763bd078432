// The kind of the objects that define kinds.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

extern const Kind kCustomResourceDefinition;

}  // namespace krater::kinds
