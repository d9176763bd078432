// Which capabilities the programs of a container may have. Pure.
#pragma once

#include <set>

#include "agent/runtime.h"
#include "base/result.h"

namespace krater::agent {

// What container runtimes leave a root user by default, less securityContext.capabilities.drop,
// plus .add ("ALL" stands for every one). Code::BadRequest with the name of one that there is not.
Result<std::set<int>> kept_capabilities(const ContainerRun& run);

}  // namespace krater::agent
