// The HTTPS server: one port, TLS 1.2 and above, HTTP/1.1 and 1.0, a coroutine a connection.
// Composed in src/cli; everything it stands on is passed in and must outlive it.
//
// Threads: runs on the io_context it is given, by as many threads as run that. start() and stop()
// from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/auth/authenticator.h"
#include "api/auth/authorizer.h"
#include "api/auth/pki.h"
#include "api/auth/service_account_tokens.h"
#include "api/registry/registry.h"
#include "api/server/auditing.h"
#include "api/server/component_log.h"
#include "api/server/flow_control.h"
#include "api/server/health.h"
#include "api/server/metrics.h"
#include "base/env.h"

namespace boost::asio {
class io_context;
}

namespace krater::api {

struct ServerLimits {
  std::size_t body_bytes = 3 << 20;      // 413 above
  std::size_t header_bytes = 60 << 10;  // 431 above, and Beast holds no field of 64 KiB; long label selectors and tokens live here
  std::size_t connections = 20'000;      // above, new ones are closed at once
  std::chrono::seconds handshake{10};
  std::chrono::seconds header{10};  // from its first byte
  std::chrono::seconds body{60};
  std::chrono::seconds idle{180};  // between requests
  std::chrono::seconds write{30};  // without progress: the client is gone
  std::chrono::seconds stop{3};    // grace for requests in flight; then connections are cut
  FlowLimits flow{};               // requests at once
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 6443;  // 0: any free one, see ApiServer::port()
  CertifiedKey certificate{};
  std::string client_ca_pem{};  // clients may present certificates of this authority
  std::string version = "0.1.0";
  ServerLimits limits{};
};

struct ServerParts {
  boost::asio::io_context& io;
  Registry& registry;
  const Authenticator& authenticator;
  const Authorizer& authorizer;
  const ServiceAccountTokens& tokens;
  const CertificateAuthority& authority;
  const WallClock& clock;
  Rng& rng;
  std::vector<HealthCheck> health{};   // besides `ping`
  const Auditing* auditing = nullptr;  // null: no audit log
  ComponentLogs component_logs{};
};

class ApiServer {
 public:
  virtual ~ApiServer() = default;
  // Binds and listens. Code::Unavailable when the address is taken or not ours, Code::Internal for
  // a bad certificate.
  virtual Result<void> start() = 0;
  // The port it listens on, after start().
  virtual std::uint16_t port() const = 0;
  // No new connections; requests in flight are finished, watches end with a last chunk, then `done`
  // (on an io thread). What is not finished within ServerLimits::stop is cut. Once.
  virtual void stop(std::function<void()> done) = 0;
  virtual Metrics& metrics() = 0;
};

std::unique_ptr<ApiServer> make_api_server(ServerOptions options, ServerParts parts);

// The history of all objects of some kinds, for the indexes that authorization keeps.
History object_history(const Registry& registry, std::vector<Kind> kinds);
ObjectLookup registry_lookup(const Registry& registry);

}  // namespace krater::api
