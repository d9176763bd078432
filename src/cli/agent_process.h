// The node side, composed: HTTPS client, runtime, agent, DNS. Used by `krater agent` and `krater dev`; in both it
// talks to the server over the public API only.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/node_credentials.h"
#include "cli/options.h"

namespace krater::cli {

class AgentProcess {
 public:
  // `options.server_url` and `node_name` are set. Blocks until the agent's loop runs.
  static Result<std::unique_ptr<AgentProcess>> start(const AgentOptions& options, const NodeCredentials& credentials);
  ~AgentProcess();
  // Ends the agent; its pods go on, unless AgentOptions::stop_pods: then they are ended first. Idempotent.
  void stop();

 private:
  struct State;
  explicit AgentProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The name under which this machine (or its simulated nodes) registers.
std::string node_name_of(const AgentOptions& options);

}  // namespace krater::cli
