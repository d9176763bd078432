// Targets as v1 Endpoints and discovery.k8s.io/v1 EndpointSlices. Pure. Everything is in a stable
// order, so that the same targets give the same objects and nothing is written without a change.
#pragma once

#include <vector>

#include "controllers/endpoints/targets.h"
#include "controllers/loop/plan.h"

namespace krater::controllers {

inline constexpr std::size_t kMaxEndpointsPerSlice = 100;

// The Endpoints object as it should be, made from `present` (null: none yet). nullopt when it is so
// already.
std::optional<PlannedWrite> publish_endpoints(const ServiceView& service,
                                              const std::vector<Target>& targets,
                                              const ObjectPtr& present);

// Creates, updates and deletes among the slices `present`. A slice keeps its name while its number
// is needed.
std::vector<PlannedWrite> publish_slices(const ServiceView& service,
                                         const std::vector<Target>& targets,
                                         const std::vector<ObjectPtr>& present);

}  // namespace krater::controllers
