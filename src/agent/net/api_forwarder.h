// Lets pods reach an API server that listens where only this machine's own programs can: bytes of
// connections from the pod network go to the server as they are and back. Nothing is read or added;
// TLS and the pod's token are between the pod and the server. On the agent's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent {

struct ForwarderSettings {
  std::string listen;       // IPv4 address; it may come up later
  std::string server_host;  // address or name
  std::uint16_t server_port = 0;
  // Who may connect, by IPv4 address in host order; others are turned away at once.
  std::function<bool(std::uint32_t address)> accepts;
  std::size_t connections_at_most = 1024;
};

class ApiForwarder {
 public:
  virtual ~ApiForwarder() = default;
  virtual std::uint16_t port() const = 0;
};

// Code::Unavailable when it cannot listen. Dropping it closes all connections.
Result<std::unique_ptr<ApiForwarder>> start_api_forwarder(boost::asio::io_context& io,
                                                          ForwarderSettings settings);

}  // namespace krater::agent
