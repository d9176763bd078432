// What this machine is: read once at start, told by the agent's nodes.
#pragma once

#include <string>

#include "agent/context.h"
#include "agent/node/facts.h"
#include "base/result.h"
#include "cli/options.h"

namespace krater::cli {

// Capacity of this machine, with --cpu and --memory in their place. Code::BadRequest for a bad quantity.
Result<agent::NodeFacts> node_facts(const AgentOptions& options, const std::string& name);
// Kernel, operating system, ids; of a simulated node only the shape.
agent::NodeInfo node_info(RuntimeKind runtime);

}  // namespace krater::cli
