// One request off the wire, within the limits of size and time. On the connection's strand.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <optional>

#include "api/server/http.h"
#include "api/server/server.h"
#include "api/server/upgrade.h"

namespace krater::api {

struct ReadOutcome {
  Request request{};
  unsigned minor_version = 1;  // of HTTP/1
  bool keep_alive = false;
  bool closed = false;  // the client left, or was too slow
  std::optional<Response>
      refused{};  // what to answer instead of handling it; the connection then closes
};

class RequestReader {
 public:
  RequestReader(TlsStream& stream, boost::beast::flat_buffer& buffer, const ServerLimits& limits)
      : stream_(stream), buffer_(buffer), limits_(limits) {}
  // False: nothing came within the idle limit, or the client left.
  boost::asio::awaitable<bool> wait_for_first_byte();
  boost::asio::awaitable<ReadOutcome> read();

 private:
  TlsStream& stream_;
  boost::beast::flat_buffer& buffer_;
  const ServerLimits& limits_;
};

// What Beast's WebSocket wants to see of the request it accepts.
boost::beast::http::request<boost::beast::http::empty_body> upgrade_head(const Request& request);

}  // namespace krater::api
