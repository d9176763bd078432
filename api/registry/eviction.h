// Evictions: a delete that asks the pod's disruption budget first, and takes from it in the same
// transaction. Pure decisions over a view of the objects.
#pragma once

#include <vector>

#include "api/admission/admission.h"
#include "base/result.h"
#include "client/object_client.h"

namespace krater::api {

// The writes an eviction comes to, the delete last; they are one transaction. Code::NotFound for no
// pod, Code::TooManyRequests when the budget does not allow it now.
Result<std::vector<client::Write>> eviction_writes(const client::DeleteWrite& options,
                                                   const ObjectReader& reader, WallTime now);

}  // namespace krater::api
