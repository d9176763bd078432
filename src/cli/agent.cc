// `krater agent`: joins this machine to a cluster and runs its pods, until SIGTERM.
#include <cstdio>
#include <memory>

#include "base/log.h"
#include "cli/agent_process.h"
#include "cli/join.h"
#include "cli/node_options.h"
#include "cli/options.h"
#include "cli/until_stopped.h"
#include "runtime/system.h"

namespace krater::cli {

// Whoever waits to be approved is simply ended by a signal: nothing runs yet.
int run_agent(const AgentOptions& given) {
  AgentOptions options = given;
  options.node_name = node_name_of(options);
  while (options.server_url.ends_with('/')) options.server_url.pop_back();
  const Result<NodeCredentials> credentials = [&]() -> Result<NodeCredentials> {
    TRY(check_node_options(options));
    return join_cluster(options, runtime::SystemClock().now());
  }();
  if (!credentials) {
    std::fprintf(stderr, "krater: %s\n", credentials.error().message.c_str());
    return 1;
  }
  return run_until_stopped(options.data_dir, [&]() -> Result<std::function<void()>> {
    TRY_ASSIGN(std::shared_ptr<AgentProcess> agent, AgentProcess::start(options, *credentials));
    log::info("agent.started", {{"node", options.node_name}, {"server", options.server_url}});
    return std::function<void()>([agent] { agent->stop(); });
  });
}

}  // namespace krater::cli
