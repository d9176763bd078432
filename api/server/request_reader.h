// One request off the wire, within the limits of size and time. On the connection's strand.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "api/server/http.h"
#include "api/server/server.h"
#include "api/server/upgrade.h"

namespace krater::api {

struct ReadOutcome {
  Request request{};           // read_head() leaves the body empty
  unsigned minor_version = 1;  // of HTTP/1
  bool keep_alive = false;
  bool has_body = false;
  bool closed = false;  // the client left, or was too slow
  std::optional<Response>
      refused{};  // what to answer instead of handling it; the connection then closes
};

// Head and body are two steps: what a stranger may make us hold is little.
class RequestReader {
 public:
  RequestReader(TlsStream& stream, boost::beast::flat_buffer& buffer, const ServerLimits& limits)
      : stream_(stream), buffer_(buffer), limits_(limits) {}
  // False: nothing came within the idle limit, or the client left.
  boost::asio::awaitable<bool> wait_for_first_byte();
  boost::asio::awaitable<void> read_head(ReadOutcome& out);
  // After read_head(), when `has_body`. Sends 100 Continue to clients that wait for it.
  boost::asio::awaitable<void> read_body(ReadOutcome& out);
  // Announced, at most 64 KiB, and its client does not wait for leave to send it.
  bool body_is_small() const;
  // Reads away, for a short while, what a client still sends: closed on at once, it would never see
  // the answer that told it to stop.
  boost::asio::awaitable<void> discard();

 private:
  // Until the parser has the head, or all.
  enum class Part { Head, All };
  boost::asio::awaitable<boost::system::error_code> parse(Part part);
  boost::system::error_code parse_held(Part part);
  bool waits_for_leave() const;
  bool take_failure(const boost::system::error_code& failed, ReadOutcome& out) const;

  TlsStream& stream_;
  boost::beast::flat_buffer& buffer_;
  const ServerLimits& limits_;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
};

// All of a request but its body.
Result<Request> request_of_head(
    const boost::beast::http::request<boost::beast::http::string_body>& message);

// What Beast's WebSocket wants to see of the request it accepts.
boost::beast::http::request<boost::beast::http::empty_body> upgrade_head(const Request& request);

}  // namespace krater::api
