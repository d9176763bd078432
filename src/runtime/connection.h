// A TCP or TLS client connection, and the way to make one. Internal to src/runtime.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater::runtime {

inline constexpr auto kNoThrow = boost::asio::as_tuple(boost::asio::use_awaitable);

struct Endpoint {
  bool tls = false;
  std::string host;  // without brackets
  std::string port;
  std::string target;  // path and query, at least "/"
  // Where to connect instead of to host and port: host and port of each, tried in this order.
  std::vector<std::pair<std::string, std::string>> places{};
  std::string authority() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  }
  std::string pool_key() const { return (tls ? "s:" : "p:") + authority(); }
};

// http, https, ws, wss.
Result<Endpoint> parse_url(const std::string& url);

using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

struct Connection {
  std::unique_ptr<boost::beast::tcp_stream> plain;  // exactly one of the two
  std::unique_ptr<TlsStream> tls;
  boost::beast::flat_buffer buffer;
  std::shared_ptr<boost::asio::ssl::context> context;  // that of `tls`
  bool used_before = false;

  boost::beast::tcp_stream& tcp() { return tls ? tls->next_layer() : *plain; }
  void close() {
    boost::system::error_code ignored;
    tcp().socket().close(ignored);
  }
};
using ConnectionPtr = std::shared_ptr<Connection>;

// Code::Unavailable or Code::Timeout. `slot` is set as soon as the socket exists, so that a
// canceller can close it.
boost::asio::awaitable<Result<ConnectionPtr>> connect(
    const Endpoint& endpoint, std::shared_ptr<boost::asio::ssl::context> tls,
    std::chrono::steady_clock::time_point deadline, std::shared_ptr<ConnectionPtr> slot);

Error connection_error(const boost::system::error_code& problem, const Endpoint& endpoint);

}  // namespace krater::runtime
