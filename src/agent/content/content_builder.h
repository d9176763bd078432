// Makes the ContentBuilder of a real node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/content/builder.h"
#include "agent/context.h"
#include "client/cache.h"

namespace krater::agent {

struct ContentSettings {
  std::string dns_address;       // the agent's resolver; empty: pods use the node's
  std::string host_resolv_conf;  // text
  std::string cluster_domain = "cluster.local";
  // A cache that watches services, for their environment variables; null: none are set.
  const client::Cache* services = nullptr;
  // Told to pods as the API's address when there are no service addresses: the server as the agent
  // itself reaches it.
  std::string server_host;
  std::uint16_t server_port = 0;
};

struct ContentDeps {
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  const Runtime& runtime;
  NodeFacts node;
  ContentSettings settings;
};

std::unique_ptr<ContentBuilder> make_content_builder(ContentDeps deps);

}  // namespace krater::agent
