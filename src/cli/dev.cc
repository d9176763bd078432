// `krater dev`: a server and one agent in one process, for a laptop or a single machine. The agent gets its
// certificate straight from the authority; everything else goes over HTTPS as on any node.
#include <memory>
#include <utility>

#include "cli/agent_process.h"
#include "cli/node_options.h"
#include "cli/options.h"
#include "cli/server_process.h"
#include "cli/until_stopped.h"
#include "runtime/system.h"

namespace krater::cli {
namespace {

struct Dev {
  std::unique_ptr<ServerProcess> server;
  std::unique_ptr<AgentProcess> agent;
};

Result<Dev> start(const DevOptions& options) {
  TRY(check_node_options(options.agent));
  Dev out;
  TRY_ASSIGN(out.server, ServerProcess::start(options.server));
  AgentOptions agent = options.agent;
  agent.server_url = out.server->url();
  agent.data_dir = options.server.data_dir + "/node";
  agent.node_name = node_name_of(agent);
  const WallTime now = runtime::SystemClock().now();
  const bool pool = agent.runtime == RuntimeKind::Simulated && agent.nodes > 1;
  api::Subject node{"system:node:" + agent.node_name, {"system:nodes"}};
  if (pool) node.organizations.push_back("krater:node-pool:" + agent.node_name);
  const api::CertificateAuthority& authority = out.server->pki().authority;
  TRY_ASSIGN(const api::CertifiedKey certified,
             authority.issue_client(node, {now - std::chrono::minutes(5), now + std::chrono::hours(24 * 365)}));
  // Made anew at each start: nothing to renew.
  NodeCredentials credentials;
  credentials.identity = {authority.certificate_pem(), certified.certificate_pem, certified.key_pem};
  TRY_ASSIGN(out.agent, AgentProcess::start(agent, credentials));
  return out;
}

}  // namespace

int run_dev(const DevOptions& options) {
  return run_until_stopped(options.server.data_dir, [&]() -> Result<std::function<void()>> {
    TRY_ASSIGN(Dev started, start(options));
    const auto dev = std::make_shared<Dev>(std::move(started));
    return std::function<void()>([dev] {
      dev->agent->stop();
      dev->server->stop();
    });
  });
}

}  // namespace krater::cli
