// Rules that no schema can say, in KubeRay's order; the first failure wins. Also what this version
// does not do: such a field is refused by name, never ignored. Pure.
#pragma once

#include <string>

#include "model/raycluster.h"

namespace krater::controllers {

// Name, label and annotation rules of RayClusters. Reason of the event: InvalidRayClusterMetadata.
Result<void> validate_cluster_metadata(const Object& cluster);
// `annotations`: of the object that carries the spec. InvalidRayClusterSpec.
Result<void> validate_cluster_spec(const RayClusterSpec& spec, const Labels& annotations);
// InvalidRayClusterSpec: strategies that this cluster cannot have.
Result<void> validate_upgrade_strategy(const RayClusterView& cluster);
// InvalidRayClusterStatus.
Result<void> validate_cluster_status(const RayClusterStatus& status);
// "<Kind> name should be …" for names over `limit` or no DNS-1035 label.
Result<void> validate_name(std::string_view kind, std::string_view name, std::size_t limit);

}  // namespace krater::controllers
