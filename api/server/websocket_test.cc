// Watches over WebSockets, as browsers open them.
#include "api/server/websocket.h"

#include <gtest/gtest.h>

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <future>

#include "api/server/testing/test_server.h"
#include "base/strings.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using testing::HttpsClient;
using testing::TestServer;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

std::string config_map(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"("}})";
}

Request upgrade_request(std::vector<Header> headers) {
  Request out;
  out.headers = std::move(headers);
  out.headers.emplace_back("Upgrade", "websocket");
  out.headers.emplace_back("Connection", "keep-alive, Upgrade");
  return out;
}

class Browser {
 public:
  explicit Browser(TestServer& server, bool certificate = true)
      : tls_(asio::ssl::context::tls_client), socket_(io_, tls_) {
    if (certificate) {
      const WallTime now = WallTime::from_unix_seconds(std::time(nullptr));
      const CertifiedKey key = *server.authority().issue_client(
          {"kubernetes-admin", {"system:masters"}}, {now - 1h, now + 1h});
      tls_.use_certificate_chain(asio::buffer(key.certificate_pem));
      tls_.use_private_key(asio::buffer(key.key_pem), asio::ssl::context::pem);
      SSL_use_certificate(socket_.next_layer().native_handle(),
                          SSL_CTX_get0_certificate(tls_.native_handle()));
      SSL_use_PrivateKey(socket_.next_layer().native_handle(),
                         SSL_CTX_get0_privatekey(tls_.native_handle()));
    }
    boost::beast::get_lowest_layer(socket_).connect(
        {asio::ip::address_v4::loopback(), server.server().port()});
    timeval limit{10, 0};
    ::setsockopt(boost::beast::get_lowest_layer(socket_).native_handle(), SOL_SOCKET, SO_RCVTIMEO,
                 &limit, sizeof limit);
    socket_.next_layer().handshake(asio::ssl::stream_base::client);
  }
  // The HTTP status of the answer; 101 when it is open.
  int open(const std::string& target, const std::vector<Header>& headers = {}) {
    socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      for (const auto& [name, value] : headers) request.set(name, value);
    }));
    websocket::response_type response;
    boost::system::error_code failed;
    socket_.handshake(response, "localhost", target, failed);
    protocol_ = std::string(response[boost::beast::http::field::sec_websocket_protocol]);
    return static_cast<int>(response.result_int());
  }
  std::string message() {
    boost::beast::flat_buffer buffer;
    socket_.read(buffer);
    return boost::beast::buffers_to_string(buffer.data());
  }
  bool got_text() const { return socket_.got_text(); }
  const std::string& protocol() const { return protocol_; }
  void send(const std::string& text) { socket_.write(asio::buffer(text)); }
  void send_as_far_as_it_goes(const std::string& text) {
    boost::system::error_code ignored;
    socket_.write(asio::buffer(text), ignored);
  }
  // The reason of the server's close.
  int wait_for_close() {
    boost::beast::flat_buffer buffer;
    boost::system::error_code failed;
    while (!failed) socket_.read(buffer, failed);
    return failed == websocket::error::closed ? socket_.reason().code : -1;
  }
  void close() { socket_.close(websocket::close_code::normal); }

 private:
  asio::io_context io_;
  asio::ssl::context tls_;
  websocket::stream<asio::ssl::stream<asio::ip::tcp::socket>> socket_;
  std::string protocol_;
};

std::string told(const std::string& message) {
  const Json event = *parse_json(message);
  return text_at(event, {"type"}) + " " + text_at(event, {"object", "metadata", "name"});
}

TEST(WebSocketWatch, EachEventIsAMessage) {
  TestServer server;
  HttpsClient admin = server.admin();
  admin.send("POST", kConfigMaps, config_map("a"));
  admin.send("POST", kConfigMaps, config_map("b"));
  Browser browser(server);
  ASSERT_EQ(browser.open(kConfigMaps + "?watch=true"), 101);
  EXPECT_EQ(browser.protocol(), "");
  EXPECT_EQ(told(browser.message()), "ADDED a");
  EXPECT_TRUE(browser.got_text());
  EXPECT_EQ(told(browser.message()), "ADDED b");
  browser.send("whatever a client says is not heard");
  admin.send("DELETE", kConfigMaps + "/a");
  EXPECT_EQ(told(browser.message()), "DELETED a");
  EXPECT_EQ(server.server().metrics().watches.load(), 1);
  browser.close();
  for (int i = 0; i < 1000 && server.server().metrics().watches.load() != 0; ++i)
    admin.send("GET", "/livez");
  EXPECT_EQ(server.server().metrics().watches.load(), 0);
}

TEST(WebSocketWatch, SubprotocolsChooseTheFrames) {
  TestServer server;
  server.admin().send("POST", kConfigMaps, config_map("a"));
  Browser binary(server);
  ASSERT_EQ(binary.open(kConfigMaps + "?watch=true",
                        {{"Sec-WebSocket-Protocol", "other, binary.k8s.io"}}),
            101);
  EXPECT_EQ(binary.protocol(), "binary.k8s.io");
  EXPECT_EQ(told(binary.message()), "ADDED a");
  EXPECT_FALSE(binary.got_text());
  Browser any(server);
  ASSERT_EQ(any.open(kConfigMaps + "?watch=true", {{"Sec-WebSocket-Protocol", "mine, yours"}}),
            101);
  EXPECT_EQ(any.protocol(), "mine");
  EXPECT_EQ(told(any.message()), "ADDED a");
  EXPECT_TRUE(any.got_text());
  Browser text(server);
  ASSERT_EQ(
      text.open(kConfigMaps + "?watch=true", {{"Sec-WebSocket-Protocol", "base64.binary.k8s.io"}}),
      101);
  EXPECT_EQ(text.protocol(), "base64.binary.k8s.io");
  EXPECT_EQ(told(base64_decode(text.message()).value_or("")), "ADDED a");
  EXPECT_TRUE(text.got_text());
}

TEST(WebSocketWatch, EndsWithItsTimeAndWithTheServer) {
  TestServer server;
  Browser timed(server);
  ASSERT_EQ(timed.open(kConfigMaps + "?watch=true&timeoutSeconds=1"), 101);
  EXPECT_EQ(timed.wait_for_close(), 1000);
  Browser open(server);
  ASSERT_EQ(open.open(kConfigMaps + "?watch=true"), 101);
  auto stopped = std::async(std::launch::async, [&] { server.stop(); });
  EXPECT_EQ(open.wait_for_close(), 1000);
  stopped.get();
}

TEST(WebSocketWatch, IsRefusedAsPlainHttpIs) {
  TestServer server;
  Browser stranger(server, false);
  EXPECT_EQ(stranger.open(kConfigMaps + "?watch=true"), 403);
  Browser wrong(server);
  EXPECT_EQ(wrong.open(kConfigMaps + "?watch=true&fieldSelector=x%3Dy"), 400);
  Browser foreign(server);
  EXPECT_EQ(foreign.open(kConfigMaps + "?watch=true", {{"Origin", "https://evil.example"}}), 403);
  Browser own(server);
  EXPECT_EQ(own.open(kConfigMaps + "?watch=true", {{"Origin", "http://localhost:8001"}}), 101);
}

TEST(WebSocketWatch, AMessageThatIsTooLongEndsIt) {
  TestServer server;
  Browser browser(server);
  ASSERT_EQ(browser.open(kConfigMaps + "?watch=true"), 101);
  browser.send_as_far_as_it_goes(std::string(100'000, 'x'));
  // Told so (1009), unless the reset for what is still on its way overtakes it.
  EXPECT_NE(browser.wait_for_close(), 1000);
  HttpsClient admin = server.admin();
  for (int i = 0; i < 1000 && server.server().metrics().watches.load() != 0; ++i)
    admin.send("GET", "/livez");
  EXPECT_EQ(server.server().metrics().watches.load(), 0);
}

TEST(WebSocketBearer, ATokenAmongTheProtocolsIsACredential) {
  const std::string token = "base64url.bearer.authorization.k8s.io." + base64url_encode("t1");
  EXPECT_EQ(bearer_of_protocols(upgrade_request({{"Sec-WebSocket-Protocol", token + ", v4"}})),
            "t1");
  // Alone it would have to be chosen, and so be told to logs.
  EXPECT_EQ(bearer_of_protocols(upgrade_request({{"Sec-WebSocket-Protocol", token}})), "");
  EXPECT_EQ(bearer_of_protocols(upgrade_request({{"Sec-WebSocket-Protocol", "v4"}})), std::nullopt);
  EXPECT_EQ(bearer_of_protocols(Request{}), std::nullopt);
  TestServer server;
  Browser browser(server, false);
  EXPECT_EQ(browser.open(kConfigMaps + "?watch=true",
                         {{"Sec-WebSocket-Protocol", token + ", binary.k8s.io"}}),
            401);
}

TEST(WebSocketOrigin, PagesOfOtherSitesNeedATokenOfTheirOwn) {
  const auto allowed = [](std::vector<Header> headers) {
    headers.emplace_back("Host", "krater.lab:6443");
    return check_origin(upgrade_request(std::move(headers))).has_value();
  };
  EXPECT_TRUE(allowed({}));
  EXPECT_TRUE(allowed({{"Origin", "https://krater.lab:6443"}}));
  EXPECT_TRUE(allowed({{"Origin", "http://127.0.0.1:8001"}}));
  EXPECT_TRUE(allowed({{"Origin", "http://[::1]:8001"}}));
  EXPECT_FALSE(allowed({{"Origin", "https://krater.lab:6443.evil.example"}}));
  EXPECT_FALSE(allowed({{"Origin", "https://localhost.evil.example"}}));
  EXPECT_FALSE(allowed({{"Origin", "null"}}));
  EXPECT_TRUE(allowed({{"Origin", "https://evil.example"}, {"Authorization", "Bearer x"}}));
}

}  // namespace
}  // namespace krater::api
