// A blocking HTTPS client for tests: one connection, raw enough to misbehave. Every read gives up
// after ten seconds.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/auth/pki.h"
#include "base/json.h"

namespace krater::api::testing {

struct Reply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string header(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  Json json() const;  // an empty object when it is none
  std::string reason() const { return text_at(json(), {"reason"}); }
  std::string message() const { return text_at(json(), {"message"}); }
};

using Headers = std::vector<std::pair<std::string, std::string>>;

class HttpsClient {
 public:
  // `identity` null: no client certificate.
  HttpsClient(std::uint16_t port, const std::string& ca_pem, const CertifiedKey* identity);

  Reply send(const std::string& method, const std::string& target, const std::string& body = "",
             Headers headers = {});
  // Bytes as they are; then receive().
  void send_raw(const std::string& bytes);
  Reply receive(bool head = false);

  // A streaming GET: the head now, then line by line. next_line() is "" at the clean end of the
  // stream.
  Reply open_stream(const std::string& target, Headers headers = {});
  std::string next_line();
  std::string alpn() const;

 private:
  using Stream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;
  using Parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  boost::asio::io_context io_;
  boost::asio::ssl::context tls_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<Parser> streaming_;
  std::string pending_;
};

}  // namespace krater::api::testing
