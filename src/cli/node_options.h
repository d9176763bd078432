// A node's options that have a form of their own. Read before anything is started, so that a
// server does not come up beside an agent that cannot.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cli/options.h"

namespace krater::cli {

// --container-log-max-size in bytes, 4096 or more. Code::BadRequest.
Result<std::int64_t> container_log_bytes(const AgentOptions& options);

// Whether all of them can be read, the files they name too. Code::BadRequest names the option.
Result<void> check_node_options(const AgentOptions& options);

}  // namespace krater::cli
