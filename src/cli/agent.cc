// `krater agent`: joins this machine to a cluster and runs its pods, until SIGTERM.
#include <memory>

#include "base/log.h"
#include "cli/agent_process.h"
#include "cli/join.h"
#include "cli/options.h"
#include "cli/until_stopped.h"
#include "runtime/system.h"

namespace krater::cli {
namespace {

Result<std::unique_ptr<AgentProcess>> join_and_start(AgentOptions options) {
  options.node_name = node_name_of(options);
  while (options.server_url.ends_with('/')) options.server_url.pop_back();
  const runtime::SystemClock clock;
  TRY_ASSIGN(const runtime::TlsIdentity identity, join_cluster(options, options.node_name, clock.now()));
  return AgentProcess::start(options, identity);
}

}  // namespace

int run_agent(const AgentOptions& options) {
  return run_until_stopped(options.data_dir, [&]() -> Result<std::function<void()>> {
    TRY_ASSIGN(std::shared_ptr<AgentProcess> agent, join_and_start(options));
    log::info("agent.started", {{"node", node_name_of(options)}, {"server", options.server_url}});
    return std::function<void()>([agent] { agent->stop(); });
  });
}

}  // namespace krater::cli
