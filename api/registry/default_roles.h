// The roles and bindings every cluster starts with: Kubernetes' own, widened to the Ray and Volcano
// kinds.
#pragma once

#include <vector>

#include "client/object_client.h"

namespace krater::api {

// Creates, all of cluster scope and independent of each other.
std::vector<client::CreateWrite> default_roles();

}  // namespace krater::api
