// Bringing the default roles and bindings of a cluster up to date, as kube-apiserver does at its
// start: what this version knows and the stored object lacks is added; what somebody has added
// stays; an object with the annotation rbac.authorization.kubernetes.io/autoupdate: "false" is left
// alone. Pure.
#pragma once

#include <optional>

#include "base/json.h"

namespace krater::api {

struct Reconciled {
  Json object;
  // The role a binding grants cannot be changed: delete it and create this one.
  bool recreate = false;
};

// What is to be written; nothing: all is well, or nobody's business.
std::optional<Reconciled> reconciled_role(const Json& existing, const Json& expected);
std::optional<Reconciled> reconciled_binding(const Json& existing, const Json& expected);

}  // namespace krater::api
