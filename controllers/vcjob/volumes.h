// Persistent volume claims of a Volcano Job. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/loop/plan.h"
#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

extern const Kind kPersistentVolumeClaim;

// Makes the claims that the job describes and writes their names into its spec. nullopt: all have
// names.
std::optional<Plan> name_claims(const Observed& seen);
// A named claim that does not exist; "" when all do.
std::string missing_claim(const Observed& seen);
void mark_claims(const Observed& seen, Status& status);

}  // namespace krater::controllers::vcjob
