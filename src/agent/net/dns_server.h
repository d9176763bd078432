// The cluster's resolver on one address: UDP and TCP, own names from the zone, others from the
// node's resolvers. On the agent's loop; every buffer, table and wait is bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/net/dns_zone.h"
#include "base/env.h"
#include "base/result.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent::dns {

struct ServerSettings {
  std::string address;      // need not exist yet (the pod bridge comes with the first pod)
  std::uint16_t port = 53;  // 0: any free one
  std::vector<std::string> upstreams{};  // IPv4 addresses, tried in order
  std::uint16_t upstream_port = 53;
};

class Server {
 public:
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
};

// Code::Unavailable when the address cannot be bound.
Result<std::unique_ptr<Server>> start_server(boost::asio::io_context& io, Rng& rng,
                                             const Zone& zone, ServerSettings settings);

// The IPv4 nameservers of a resolv.conf; its search domains are the caller's to read.
std::vector<std::string> nameservers_of(const std::string& resolv_conf);

}  // namespace krater::agent::dns
