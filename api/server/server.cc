#include "api/server/server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <set>

#include "api/server/connection.h"
#include "api/server/deps.h"
#include "api/server/tls_context.h"
#include "base/log.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class BeastServer final : public ApiServer {
 public:
  BeastServer(ServerOptions options, ServerParts parts)
      : options_(std::move(options)),
        io_(parts.io),
        acceptor_(asio::make_strand(parts.io)),
        stop_timer_(acceptor_.get_executor()),
        flow_(options_.limits.flow),
        discovery_(parts.registry.schemas()),
        openapi_(parts.registry.schemas(), parts.clock),
        deps_{parts.registry,
              parts.authenticator,
              parts.authorizer,
              parts.tokens,
              parts.authority,
              parts.clock,
              parts.rng,
              metrics_,
              tunnels_,
              discovery_,
              openapi_,
              std::move(parts.health),
              options_.version,
              "",
              flow_,
              parts.auditing,
              std::move(parts.component_logs)},
        service_(deps_) {
    add_process_metrics(metrics_);
    add_flow_metrics();
    if (parts.auditing != nullptr) add_audit_metrics(metrics_, *parts.auditing);
    metrics_.add_gauge("krater_store_revision", "Revision of the newest write.",
                       [this] { return static_cast<double>(deps_.registry.revision().number()); });
    metrics_.add_gauge("krater_tunnels", "Connected node agents.",
                       [this] { return static_cast<double>(tunnels_.size()); });
  }

  Result<void> start() override {
    TRY_ASSIGN(tls_, make_server_tls(options_.certificate, options_.client_ca_pem));
    boost::system::error_code failed;
    const auto address = asio::ip::make_address(options_.address, failed);
    if (failed)
      return make_error(Code::Unavailable,
                        "cannot listen on " + options_.address + ": not an IP address");
    const tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), failed);
    if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor_.bind(endpoint, failed);
    if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) {
      return make_error(Code::Unavailable, "cannot listen on " + options_.address + ":" +
                                               std::to_string(options_.port) + ": " +
                                               failed.message());
    }
    deps_.server_address = (address.is_v6() ? "[" + options_.address + "]" : options_.address) +
                           ":" + std::to_string(port());
    asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
    return {};
  }

  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }
  Metrics& metrics() override { return metrics_; }

  void stop(std::function<void()> done) override {
    asio::post(acceptor_.get_executor(), [this, done = std::move(done)]() mutable {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      std::vector<std::shared_ptr<Connection>> open;
      {
        const std::lock_guard lock(mutex_);
        done_ = std::move(done);
        open.assign(connections_.begin(), connections_.end());
      }
      for (const auto& connection : open) connection->stop();
      stop_timer_.expires_after(options_.limits.stop);
      stop_timer_.async_wait([this](const boost::system::error_code& cancelled) {
        if (!cancelled) cut_all();
      });
      finish_if_quiet();
    });
  }

 private:
  asio::awaitable<void> accept() {
    while (acceptor_.is_open()) {
      auto [failed, socket] = co_await acceptor_.async_accept(asio::make_strand(io_),
                                                              asio::as_tuple(asio::use_awaitable));
      if (failed == asio::error::operation_aborted) co_return;
      if (failed) {
        // Out of descriptors, mostly: wait for some to come back instead of spinning.
        log::warn("api.accept", {{"error", failed.message()}});
        asio::steady_timer pause(acceptor_.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      if (metrics_.connections.load() >= static_cast<std::int64_t>(options_.limits.connections))
        continue;
      boost::system::error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      socket.set_option(asio::socket_base::keep_alive(true), ignored);
      begin(std::move(socket));
    }
  }

  void add_flow_metrics() {
    metrics_.add_family(
        "apiserver_current_inflight_requests",
        "Requests on their way by kind, long-running ones aside.", "gauge", [this] {
          const FlowControl::Counts now = flow_.counts();
          return std::vector<Metrics::Sample>{
              {R"(request_kind="mutating")", static_cast<double>(now.in_flight[1])},
              {R"(request_kind="readOnly")", static_cast<double>(now.in_flight[0])}};
        });
  }

  void begin(tcp::socket socket) {
    ++metrics_.connections;
    auto slot = std::make_shared<std::weak_ptr<Connection>>();
    auto connection = make_connection(boost::beast::tcp_stream(std::move(socket)), *tls_, service_,
                                      options_.limits, [this, slot] { ended(slot->lock()); });
    *slot = connection;
    {
      const std::lock_guard lock(mutex_);
      connections_.insert(connection);
    }
    connection->run();
  }

  void ended(const std::shared_ptr<Connection>& connection) {
    --metrics_.connections;
    {
      const std::lock_guard lock(mutex_);
      connections_.erase(connection);
    }
    finish_if_quiet();
  }

  void cut_all() {
    std::vector<std::shared_ptr<Connection>> open;
    {
      const std::lock_guard lock(mutex_);
      open.assign(connections_.begin(), connections_.end());
    }
    for (const auto& connection : open) connection->cut();
  }

  void finish_if_quiet() {
    std::function<void()> done;
    {
      const std::lock_guard lock(mutex_);
      if (!connections_.empty() || !done_) return;
      done = std::exchange(done_, nullptr);
    }
    asio::post(acceptor_.get_executor(), [this, done = std::move(done)] {
      stop_timer_.cancel();
      done();
    });
  }

  ServerOptions options_;
  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer stop_timer_;
  std::shared_ptr<asio::ssl::context> tls_;
  Metrics metrics_;
  FlowControl flow_;
  TunnelHub tunnels_;
  Discovery discovery_;
  OpenApi openapi_;
  Deps deps_;
  Service service_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Connection>> connections_;  // guarded by mutex_
  std::function<void()> done_;                         // guarded by mutex_; set once stopping
};

}  // namespace

std::unique_ptr<ApiServer> make_api_server(ServerOptions options, ServerParts parts) {
  return std::make_unique<BeastServer>(std::move(options), std::move(parts));
}

ObjectLookup registry_lookup(const Registry& registry) {
  return [&registry](const Kind& kind, std::string_view name_space, std::string_view name) {
    return registry.get(kind, name_space, name);
  };
}

History object_history(const Registry& registry, std::vector<Kind> kinds) {
  struct State {
    std::vector<Kind> kinds;
    std::vector<std::unique_ptr<Watch>> watches{};
  };
  auto state = std::make_shared<State>(State{std::move(kinds)});
  return {[&registry, state]() -> Result<void> {
            state->watches.clear();
            for (const Kind& kind : state->kinds) {
              TRY_ASSIGN(std::unique_ptr<Watch> watch, registry.watch(kind, {}, [] {}));
              state->watches.push_back(std::move(watch));
            }
            return {};
          },
          [state]() -> Result<std::vector<ObjectChange>> {
            std::vector<ObjectChange> out;
            for (const std::unique_ptr<Watch>& watch : state->watches) {
              for (;;) {
                TRY_ASSIGN(const std::vector<WatchEvent> events, watch->next(256));
                if (events.empty()) break;
                for (const WatchEvent& event : events) {
                  if (event.object)
                    out.push_back({event.object, event.type == WatchEvent::Type::Deleted});
                }
              }
            }
            return out;
          }};
}

}  // namespace krater::api
