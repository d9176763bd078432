// The kinds of rbac.authorization.k8s.io. Apart from model/kinds.h, which nearly everything reads.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

extern const Kind kRole, kClusterRole, kRoleBinding, kClusterRoleBinding;

}  // namespace krater::kinds
