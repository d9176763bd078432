// The claims of a StatefulSet's pods: one a template and ordinal, kept under its name when its pod
// is replaced. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/workload.h"

namespace krater::controllers {

// A claim of the set's namespace by name; null when there is none.
using FindClaim = std::function<ObjectPtr(const std::string&)>;

// Creates those of one pod that are not there.
std::vector<PlannedWrite> missing_claims(const StatefulSetView& set, std::int64_t ordinal,
                                         const FindClaim& find_claim);
// The pod with volumes for its claims; a volume of the template that has the name of one gives way.
void mount_claims(const StatefulSetView& set, std::int64_t ordinal, Json& pod);
// Brings the owners of one pod's claims in line with persistentVolumeClaimRetentionPolicy.
// `condemned`: the set is too large by this pod.
std::vector<PlannedWrite> own_claims(const StatefulSetView& set, std::int64_t ordinal,
                                     const Object& pod, bool condemned,
                                     const FindClaim& find_claim);

}  // namespace krater::controllers
