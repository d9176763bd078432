// Which file a log request means: from what the agent knows of the pod and what lies on disk.
// Errors are worded as a kubelet words them.
#pragma once

#include <functional>
#include <string>

#include "agent/agent.h"
#include "base/result.h"
#include "model/tunnel.h"

namespace krater::agent {

struct LogPlace {
  std::string directory;  // empty: this runtime keeps no logs
  int attempt = 0;
  bool running = false;  // more may come
};
using LogLookup = std::function<Result<LogPlace>(const tunnel::LogRequest& request)>;

LogLookup lookup_in(const Agent& agent, const Runtime& runtime);
// Where the shim writes the logs of a container.
std::string log_directory(const std::string& pod_directory, const std::string& container);

}  // namespace krater::agent
