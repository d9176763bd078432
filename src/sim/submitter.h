// What a submitter's container does in the simulated world: `ray job submit` to the head that its
// RAY_DASHBOARD_ADDRESS names, as DNS would find it. Pure.
#pragma once

#include <optional>
#include <string>

#include "model/object.h"
#include "storage/store.h"

namespace krater::sim {

struct RaySubmission {
  std::string service, id;  // of the head; of the Ray job
};
// nullopt: this pod submits nothing.
std::optional<RaySubmission> submission_of(const Object& pod);
// The address of a running pod behind this service.
std::optional<std::string> address_of(const storage::Snapshot& state, const std::string& name_space,
                                      const std::string& service);

}  // namespace krater::sim
