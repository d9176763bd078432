#include "api/server/testing/https_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>

#include "base/strings.h"

namespace krater::api::testing {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

asio::ssl::context client_tls(const std::string& ca_pem, const CertifiedKey* identity) {
  asio::ssl::context tls(asio::ssl::context::tls_client);
  tls.add_certificate_authority(asio::buffer(ca_pem));
  tls.set_verify_mode(asio::ssl::verify_peer);
  if (identity != nullptr) {
    tls.use_certificate_chain(asio::buffer(identity->certificate_pem));
    tls.use_private_key(asio::buffer(identity->key_pem), asio::ssl::context::pem);
  }
  return tls;
}

std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body, const Headers& headers) {
  std::string out = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) out += name + ": " + value + "\r\n";
  if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH")
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return out + "\r\n" + body;
}

template <typename Message>
void copy_head(Reply& reply, const Message& message) {
  reply.status = static_cast<int>(message.result_int());
  for (const auto& field : message)
    reply.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
}

}  // namespace

std::string Reply::header(std::string_view name) const {
  const std::vector<std::string> values = all(name);
  return values.empty() ? "" : values.front();
}

std::vector<std::string> Reply::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : headers) {
    if (to_lower(key) == to_lower(name)) out.push_back(value);
  }
  return out;
}

Json Reply::json() const {
  Result<Json> parsed = parse_json(body);
  return parsed ? *std::move(parsed) : Json(JsonObject{});
}

HttpsClient::HttpsClient(std::uint16_t port, const std::string& ca_pem,
                         const CertifiedKey* identity)
    : tls_(client_tls(ca_pem, identity)), stream_(io_, tls_) {
  stream_.next_layer().connect({asio::ip::address_v4::loopback(), port});
  timeval limit{10, 0};
  ::setsockopt(stream_.next_layer().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
  SSL_set_alpn_protos(stream_.native_handle(), kOffered, sizeof kOffered - 1);
  SSL_set1_host(stream_.native_handle(), "localhost");
  stream_.handshake(asio::ssl::stream_base::client);
}

std::string HttpsClient::alpn() const {
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(const_cast<Stream&>(stream_).native_handle(), &chosen, &size);
  return {reinterpret_cast<const char*>(chosen), size};
}

Reply HttpsClient::send(const std::string& method, const std::string& target,
                        const std::string& body, Headers headers) {
  send_raw(request_text(method, target, body, headers));
  return receive(method == "HEAD");
}

void HttpsClient::send_raw(const std::string& bytes) {
  asio::write(stream_, asio::buffer(bytes));
}

Reply HttpsClient::receive(bool head) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  parser.skip(head);
  http::read(stream_, buffer_, parser);
  Reply out;
  copy_head(out, parser.get());
  out.body = parser.get().body();
  return out;
}

Reply HttpsClient::open_stream(const std::string& target, Headers headers) {
  send_raw(request_text("GET", target, "", headers));
  streaming_ = std::make_unique<Parser>();
  streaming_->body_limit(boost::none);
  http::read_header(stream_, buffer_, *streaming_);
  Reply out;
  copy_head(out, streaming_->get());
  return out;
}

std::string HttpsClient::next_line() {
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (streaming_->is_done()) return std::exchange(pending_, "");
    std::array<char, 4096> bytes{};
    streaming_->get().body().data = bytes.data();
    streaming_->get().body().size = bytes.size();
    boost::system::error_code failed;
    http::read_some(stream_, buffer_, *streaming_, failed);
    if (failed && failed != http::error::need_buffer) throw boost::system::system_error(failed);
    pending_.append(bytes.data(), bytes.size() - streaming_->get().body().size);
  }
}

}  // namespace krater::api::testing
