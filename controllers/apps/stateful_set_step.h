// One pass over a StatefulSet: what is seen, and what shall be done. Pure.
//
// Ordered sets do one thing a pass and wait for a pod to be available before the next; parallel
// ones make and remove pods at once. Updates go from the highest ordinal down, one pod at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/apps/app_pod.h"
#include "controllers/apps/revisions.h"
#include "controllers/apps/set_claims.h"

namespace krater::controllers {

struct StatefulSetSeen {
  StatefulSetView set;
  std::vector<AppPod> pods;                                // those it controls
  std::vector<ObjectPtr> revisions;                        // those it controls
  std::function<bool(const std::string&)> revision_taken;  // names in its namespace
  FindClaim find_claim;
};

Plan stateful_set_step(const StatefulSetSeen& seen, WallTime now);

// The number at the end of a pod's name; nothing when it is no pod of such a set.
std::optional<std::int64_t> ordinal_of(std::string_view set, std::string_view pod);

}  // namespace krater::controllers
