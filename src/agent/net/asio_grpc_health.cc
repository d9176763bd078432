#include "agent/net/asio_grpc_health.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace krater::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

std::string text_of(const asio::ip::tcp::endpoint& peer) {
  const std::string host = peer.address().to_string();
  return fmt::format("{}:{}", peer.address().is_v6() ? "[" + host + "]" : host, peer.port());
}

// One check, from connecting to the answer. Kept alive by its own handlers.
class Check : public std::enable_shared_from_this<Check> {
 public:
  Check(asio::io_context& context, const asio::ip::tcp::endpoint& peer, const std::string& service,
        Duration timeout, std::function<void(const HealthAnswer&)> done)
      : socket_(context),
        limit_(context),
        peer_(peer),
        where_(text_of(peer)),
        timeout_(timeout),
        call_(where_, "/grpc.health.v1.Health/Check", "kube-probe/1.32", health_request(service)),
        done_(std::move(done)) {}

  void start() {
    limit_.expires_after(timeout_);
    limit_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->out_of_time();
    });
    socket_.async_connect(peer_, [self = shared_from_this()](const error_code& failure) {
      if (!self->done_) return;
      if (failure) return self->answer({false, self->no_connection(failure.message())});
      self->connected_ = true;
      self->send();
      self->receive();
    });
  }

 private:
  std::string no_connection(const std::string& why) const {
    return fmt::format("timeout: failed to connect service \"{}\" within {}s: {}", where_,
                       timeout_ / std::chrono::seconds(1), why);
  }

  void out_of_time() {
    answer({false, connected_ ? fmt::format("timeout: health rpc did not complete within {}s",
                                            timeout_ / std::chrono::seconds(1))
                              : no_connection("context deadline exceeded")});
  }

  // One write at a time.
  void send() {
    if (sending_ || !done_) return;
    out_ = call_.output();
    if (out_.empty()) return;
    sending_ = true;
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](const error_code& failure, std::size_t) {
                        self->sending_ = false;
                        if (failure) return self->broken(failure);
                        self->send();
                      });
  }

  void receive() {
    socket_.async_read_some(asio::buffer(in_), [self = shared_from_this()](
                                                   const error_code& failure, std::size_t size) {
      if (!self->done_) return;
      if (failure) return self->broken(failure);
      const Result<void> read = self->call_.input({self->in_.data(), size});
      if (!read) return self->unavailable(read.error().message);
      if (self->call_.reply()) return self->answer(health_answer(*self->call_.reply()));
      self->send();
      self->receive();
    });
  }

  void broken(const error_code& failure) { unavailable(failure.message()); }
  void unavailable(const std::string& why) {
    constexpr int kUnavailable = 14;
    answer(health_answer({kUnavailable, why, {}}));
  }

  void answer(const HealthAnswer& what) {
    if (!done_) return;
    const auto done = std::exchange(done_, nullptr);
    limit_.cancel();
    error_code ignored;
    socket_.close(ignored);
    done(what);
  }

  asio::ip::tcp::socket socket_;
  asio::steady_timer limit_;
  asio::ip::tcp::endpoint peer_;
  std::string where_;
  Duration timeout_;
  GrpcCall call_;
  std::function<void(const HealthAnswer&)> done_;  // empty once answered
  std::array<char, 4096> in_{};
  std::string out_;
  bool connected_ = false, sending_ = false;
};

class AsioGrpcHealth final : public GrpcHealth {
 public:
  explicit AsioGrpcHealth(asio::io_context& context) : context_(context) {}

  void check(const std::string& host, int port, const std::string& service, Duration timeout,
             std::function<void(const HealthAnswer&)> done) override {
    error_code problem;
    const asio::ip::address address =
        asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, problem);
    if (problem || port <= 0 || port > 65535) {
      asio::post(context_, [done = std::move(done), host] {
        done({false, "error: failed to connect service: no address to probe: " + host});
      });
      return;
    }
    const asio::ip::tcp::endpoint peer(address, static_cast<std::uint16_t>(port));
    std::make_shared<Check>(context_, peer, service, timeout, std::move(done))->start();
  }

 private:
  asio::io_context& context_;
};

}  // namespace

std::unique_ptr<GrpcHealth> make_asio_grpc_health(asio::io_context& context) {
  return std::make_unique<AsioGrpcHealth>(context);
}

}  // namespace krater::agent
