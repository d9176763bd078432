// What a node does for service names and addresses: answers DNS on the pod bridge, forwards to the
// API and keeps the forwarding rules. Follows services and endpoint slices with a cache of its own.
// On the agent's loop.
#pragma once

#include <memory>
#include <string>

#include "agent/net/api_forwarder.h"
#include "agent/net/dns_server.h"
#include "agent/net/service_rules.h"
#include "client/cache.h"

namespace krater::agent {

struct NodeNetworkSettings {
  dns::ServerSettings dns;
  std::string domain = "cluster.local";
  RuleSettings rules{};
  // For a server on this machine's loopback; `listen` is where DNS answers.
  std::optional<ForwarderSettings> api{};
  bool forward =
      true;  // false where we may not touch nftables: names work, service addresses do not
};

class NodeNetwork {
 public:
  NodeNetwork(client::ObjectClient& client, Loop& loop, boost::asio::io_context& io, Rng& rng,
              NodeNetworkSettings settings);
  ~NodeNetwork();
  NodeNetwork(const NodeNetwork&) = delete;
  NodeNetwork& operator=(const NodeNetwork&) = delete;

  // Code::Unavailable when DNS cannot listen.
  Result<void> start();
  // Names are not answered any more. Takes the rules back unless pods stay that need them; `done`
  // runs when they are gone.
  void stop(bool pods_stay, std::function<void()> done);
  const client::Cache& services() const { return cache_; }

 private:
  void changed();
  void apply();

  Loop& loop_;
  boost::asio::io_context& io_;
  Rng& rng_;
  NodeNetworkSettings settings_;
  client::Cache cache_;
  dns::Zone zone_;
  std::unique_ptr<dns::Server> server_;
  std::unique_ptr<ApiForwarder> api_;
  std::string applied_;
  bool applying_ = false, again_ = false, stopped_ = false;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
