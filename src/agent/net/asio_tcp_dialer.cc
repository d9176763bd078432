#include "agent/net/asio_tcp_dialer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace krater::agent {
namespace {

namespace asio = boost::asio;

struct Attempt {
  explicit Attempt(asio::io_context& context) : socket(context), limit(context) {}
  asio::ip::tcp::socket socket;
  asio::steady_timer limit;
  bool timed_out = false;
};

class AsioTcpDialer final : public TcpDialer {
 public:
  explicit AsioTcpDialer(asio::io_context& context) : context_(context) {}

  void try_connect(const std::string& host, int port, Duration timeout,
                   std::function<void(Result<void>)> done) override {
    boost::system::error_code problem;
    const asio::ip::address address =
        asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, problem);
    if (problem || port <= 0 || port > 65535) {
      asio::post(context_, [done = std::move(done), host] {
        done(make_error(Code::BadRequest, "no address to probe: " + host));
      });
      return;
    }
    auto attempt = std::make_shared<Attempt>(context_);
    attempt->limit.expires_after(timeout);
    attempt->limit.async_wait([attempt](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      attempt->timed_out = true;
      boost::system::error_code ignored;
      attempt->socket.close(ignored);
    });
    attempt->socket.async_connect(
        {address, static_cast<std::uint16_t>(port)},
        [attempt, host, port, done = std::move(done)](const boost::system::error_code& failure) {
          attempt->limit.cancel();
          boost::system::error_code ignored;
          attempt->socket.close(ignored);
          const std::string where = "dial tcp " + host + ":" + std::to_string(port) + ": ";
          if (attempt->timed_out) return done(make_error(Code::Timeout, where + "i/o timeout"));
          if (failure) return done(make_error(Code::Unavailable, where + failure.message()));
          done({});
        });
  }

 private:
  asio::io_context& context_;
};

}  // namespace

std::unique_ptr<TcpDialer> make_asio_tcp_dialer(asio::io_context& context) {
  return std::make_unique<AsioTcpDialer>(context);
}

}  // namespace krater::agent
