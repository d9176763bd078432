// What the status of a definition should say. Pure. Mirrors kube-apiserver's naming, establishing,
// approval and finalizing controllers in one.
#pragma once

#include <optional>

#include "api/machinery/custom/acceptance.h"
#include "base/json.h"
#include "base/time.h"

namespace krater::api {

// How far the deletion of a definition has come.
enum class Ending {
  Not,
  Deleting,    // its objects are going
  Gone,        // all are gone
  BuiltIn,     // its objects are those of a built-in kind and stay
  NeverServed  // there never were any
};

// The definition with its status brought up to date; nullopt when it is.
std::optional<Json> with_status(const Json& definition, const Acceptance& acceptance, Ending ending,
                                WallTime now);

}  // namespace krater::api
