#include "agent/net/api_forwarder.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <set>

namespace krater::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kConnectWithin = std::chrono::seconds(10);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// Both ends of one connection. Lives in its own handlers until both directions are through.
class Pair : public std::enable_shared_from_this<Pair> {
 public:
  Pair(tcp::socket pod, asio::io_context& io)
      : pod_(std::move(pod)), server_(io), resolver_(io), limit_(io) {}

  void start(const ForwarderSettings& settings) {
    limit_.expires_after(kConnectWithin);
    limit_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->close();
    });
    error_code named;
    const asio::ip::address address = asio::ip::make_address(settings.server_host, named);
    if (!named) {
      return server_.async_connect(
          {address, settings.server_port},
          [self = shared_from_this()](const error_code& failure) { self->connected(failure); });
    }
    resolver_.async_resolve(
        settings.server_host, std::to_string(settings.server_port),
        [self = shared_from_this()](const error_code& failure, tcp::resolver::results_type found) {
          if (failure) return self->close();
          asio::async_connect(self->server_, found,
                              [self](const error_code& refused, const tcp::endpoint&) {
                                self->connected(refused);
                              });
        });
  }

  void close() {
    error_code ignored;
    limit_.cancel();
    resolver_.cancel();
    pod_.close(ignored);
    server_.close(ignored);
  }

 private:
  using Buffer = std::array<char, 16384>;

  void connected(const error_code& failure) {
    limit_.cancel();
    if (failure || !pod_.is_open()) return close();
    pump(pod_, server_, up_);
    pump(server_, pod_, down_);
  }

  // One direction; its end is passed on, the other direction may go on.
  void pump(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
    from.async_read_some(asio::buffer(buffer), [self = shared_from_this(), &from, &to, &buffer](
                                                   const error_code& failure, std::size_t size) {
      if (failure == asio::error::eof) {
        error_code ignored;
        to.shutdown(tcp::socket::shutdown_send, ignored);
        return;
      }
      if (failure) return self->close();
      asio::async_write(to, asio::buffer(buffer, size),
                        [self, &from, &to, &buffer](const error_code& broken, std::size_t) {
                          if (broken) return self->close();
                          self->pump(from, to, buffer);
                        });
    });
  }

  tcp::socket pod_, server_;
  tcp::resolver resolver_;
  asio::steady_timer limit_;
  Buffer up_{}, down_{};
};

class Forwarder final : public ApiForwarder {
 public:
  Forwarder(asio::io_context& io, ForwarderSettings settings)
      : io_(io), acceptor_(io), pause_(io), settings_(std::move(settings)) {}
  ~Forwarder() override {
    *alive_ = false;
    for (const std::weak_ptr<Pair>& weak : pairs_) {
      if (const auto pair = weak.lock()) pair->close();
    }
  }

  Result<void> listen() {
    error_code failure;
    const asio::ip::address address = asio::ip::make_address(settings_.listen, failure);
    if (!failure) acceptor_.open(tcp::v4(), failure);
    if (!failure) {
      const int on = 1;
      ::setsockopt(acceptor_.native_handle(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
      acceptor_.bind({address, 0}, failure);
    }
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
      return make_error(Code::Unavailable,
                        "cannot listen on " + settings_.listen + ": " + failure.message());
    }
    accept();
    return {};
  }
  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this, alive = alive_](const error_code& failure, tcp::socket socket) {
      if (!*alive) return;
      if (failure) return accept_later();  // out of descriptors, for one
      take(std::move(socket));
      accept();
    });
  }
  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this, alive = alive_](const error_code& cancelled) {
      if (*alive && !cancelled) accept();
    });
  }
  void take(tcp::socket socket) {
    error_code failure;
    const tcp::endpoint peer = socket.remote_endpoint(failure);
    if (failure || !peer.address().is_v4()) return;
    if (settings_.accepts && !settings_.accepts(peer.address().to_v4().to_uint())) return;
    std::erase_if(pairs_, [](const std::weak_ptr<Pair>& pair) { return pair.expired(); });
    if (pairs_.size() >= settings_.connections_at_most) return;
    const auto pair = std::make_shared<Pair>(std::move(socket), io_);
    pairs_.insert(pair);
    pair->start(settings_);
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  ForwarderSettings settings_;
  std::set<std::weak_ptr<Pair>, std::owner_less<>> pairs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<ApiForwarder>> start_api_forwarder(asio::io_context& io,
                                                          ForwarderSettings settings) {
  auto out = std::make_unique<Forwarder>(io, std::move(settings));
  TRY(out->listen());
  return std::unique_ptr<ApiForwarder>(std::move(out));
}

}  // namespace krater::agent
