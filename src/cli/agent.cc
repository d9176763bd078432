// `krater agent`: joins this machine to a cluster and runs its pods, until SIGTERM.
#include <cstdio>

#include "base/log.h"
#include "cli/agent_process.h"
#include "cli/join.h"
#include "cli/options.h"
#include "runtime/asio_loop.h"
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
  runtime::AsioLoop loop;
  const runtime::StopSignals signals(loop, [&](int) { loop.stop(); });
  const Result<std::unique_ptr<AgentProcess>> agent = join_and_start(options);
  if (!agent) {
    std::fprintf(stderr, "krater: %s\n", agent.error().message.c_str());
    return 1;
  }
  log::info("agent.started", {{"node", node_name_of(options)}, {"server", options.server_url}});
  loop.run();
  log::info("stopping");
  (*agent)->stop();
  log::info("stopped");
  return 0;
}

}  // namespace krater::cli
