#include "agent/net/grpc_health.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <map>
#include <vector>

#include "agent/net/asio_grpc_health.h"

namespace krater::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::string_literals::operator""s;

const std::string kServing = "\x00\x00\x00\x00\x02\x08\x01"s;
const std::string kNotServing = "\x00\x00\x00\x00\x02\x08\x02"s;

struct Script {
  std::string http = "200";
  std::string grpc_status = "0";  // empty: no trailers
  std::string grpc_message{};
  std::string body = kServing;
};

// A gRPC server as bytes in and bytes out, with one answer to everything.
class Server {
 public:
  explicit Server(Script script) : script_(std::move(script)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks,
        [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
           const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
          auto& self = *static_cast<Server*>(user);
          self.headers[std::string(reinterpret_cast<const char*>(name), name_size)] =
              std::string(reinterpret_cast<const char*>(value), value_size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* data,
                      std::size_t size, void* user) {
          static_cast<Server*>(user)->request.append(reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          const bool asked = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
          if (asked && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
            static_cast<Server*>(user)->answer(frame->hd.stream_id);
          return 0;
        });
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Server() { nghttp2_session_del(session_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string talk(const std::string& bytes) {
    EXPECT_GE(nghttp2_session_mem_recv(
                  session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
              0);
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t n = nghttp2_session_mem_send(session_, &data); n > 0;
         n = nghttp2_session_mem_send(session_, &data))
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(n));
    return out;
  }

  std::map<std::string, std::string> headers;
  std::string request;

 private:
  static nghttp2_nv pair(const char* name, const std::string& value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name)),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), std::strlen(name),
            value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  void answer(std::int32_t stream) {
    const std::array<nghttp2_nv, 1> head{pair(":status", script_.http)};
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = [](nghttp2_session* session, std::int32_t id, std::uint8_t* out,
                                std::size_t, std::uint32_t* flags, nghttp2_data_source* source,
                                void*) -> ssize_t {
      Server& self = *static_cast<Server*>(source->ptr);
      std::memcpy(out, self.script_.body.data(), self.script_.body.size());
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!self.script_.grpc_status.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const std::array<nghttp2_nv, 2> trailers{pair("grpc-status", self.script_.grpc_status),
                                                 pair("grpc-message", self.script_.grpc_message)};
        nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
      }
      return static_cast<ssize_t>(self.script_.body.size());
    };
    nghttp2_submit_response(session_, stream, head.data(), head.size(), &provider);
  }

  Script script_;
  nghttp2_session* session_ = nullptr;
};

std::optional<GrpcReply> ask(Server& server, const std::string& service) {
  GrpcCall call("10.0.0.1:80", "/grpc.health.v1.Health/Check", "test", health_request(service));
  for (int round = 0; round < 5 && !call.reply(); ++round)
    EXPECT_TRUE(call.input(server.talk(call.output())));
  return call.reply();
}

TEST(GrpcCall, AsksAsTheStandardSays) {
  Server server({});
  const auto reply = ask(server, "my.Service");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 0);
  EXPECT_EQ(server.headers[":method"], "POST");
  EXPECT_EQ(server.headers[":path"], "/grpc.health.v1.Health/Check");
  EXPECT_EQ(server.headers[":authority"], "10.0.0.1:80");
  EXPECT_EQ(server.headers["content-type"], "application/grpc");
  EXPECT_EQ(server.headers["te"], "trailers");
  EXPECT_EQ(server.request, "\x00\x00\x00\x00\x0c\x0a\x0amy.Service"s);
}

TEST(GrpcCall, TheServerAsAWholeIsAnEmptyMessage) {
  Server server({});
  ASSERT_TRUE(ask(server, ""));
  EXPECT_EQ(server.request, "\x00\x00\x00\x00\x00"s);
}

TEST(GrpcCall, WhatIsNoHttp2IsUnavailable) {
  GrpcCall call("h:1", "/x", "test", "");
  (void)call.output();
  const auto read = call.input("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::Unavailable);
}

struct AnswerCase {
  Script script;
  bool serving;
  std::string why;
};

TEST(GrpcHealth, TellsAsAKubeletDoes) {
  const std::vector<AnswerCase> cases{
      {{}, true, ""},
      {{.body = kNotServing}, false, "service unhealthy (responded with \"NOT_SERVING\")"},
      {{.body = std::string(5, '\0')}, false, "service unhealthy (responded with \"UNKNOWN\")"},
      {{.grpc_status = "12", .grpc_message = "unknown service", .body = ""},
       false,
       "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): "
       "unknown service"},
      {{.grpc_status = "5", .grpc_message = "no%20such service", .body = ""},
       false,
       "error: health rpc probe failed: rpc error: code = NotFound desc = no such service"},
      {{.http = "404", .grpc_status = "", .body = "nothing here"},
       false,
       "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): "
       "unexpected HTTP status code received from server: 404"},
      {{.grpc_status = ""},
       false,
       "error: health rpc probe failed: rpc error: code = Internal desc = server closed the stream "
       "without sending trailers"},
      {{.body = "\x00\x00"s},
       false,
       "error: health rpc probe failed: rpc error: code = Internal desc = the server's message is "
       "not complete"},
  };
  for (const AnswerCase& one : cases) {
    Server server(one.script);
    const auto reply = ask(server, "");
    ASSERT_TRUE(reply) << one.why;
    const HealthAnswer answer = health_answer(*reply);
    EXPECT_EQ(answer.serving, one.serving) << one.why;
    EXPECT_EQ(answer.why, one.why);
  }
}

// Over a real connection; `server` null accepts and says nothing.
struct GrpcOverTcp : ::testing::Test {
  asio::io_context io;
  tcp::acceptor acceptor{io, {asio::ip::make_address("127.0.0.1"), 0}};
  tcp::socket peer{io};
  std::array<char, 4096> bytes{};
  std::string out;
  std::unique_ptr<GrpcHealth> health = make_asio_grpc_health(io);

  int port() const { return acceptor.local_endpoint().port(); }
  void serve(Server* server) {
    acceptor.async_accept(peer, [this, server](const boost::system::error_code& failure) {
      if (!failure) go_on(server);
    });
  }
  void go_on(Server* server) {
    peer.async_read_some(asio::buffer(bytes),
                         [this, server](const boost::system::error_code& failure, std::size_t n) {
                           if (failure) return;
                           if (server == nullptr) return go_on(server);
                           out = server->talk(std::string(bytes.data(), n));
                           asio::write(peer, asio::buffer(out));
                           go_on(server);
                         });
  }
  HealthAnswer check(int where, Duration timeout = std::chrono::seconds(20)) {
    std::optional<HealthAnswer> got;
    health->check("127.0.0.1", where, "", timeout, [&](const HealthAnswer& answer) {
      got = answer;
      acceptor.close();
    });
    io.run();
    EXPECT_TRUE(got);
    return got.value_or(HealthAnswer{});
  }
};

TEST_F(GrpcOverTcp, AServingServerIsHealthy) {
  Server server({});
  serve(&server);
  const HealthAnswer answer = check(port());
  EXPECT_TRUE(answer.serving) << answer.why;
}

TEST_F(GrpcOverTcp, SilenceEndsWithTheTimeout) {
  serve(nullptr);
  const HealthAnswer answer = check(port(), std::chrono::milliseconds(50));
  EXPECT_FALSE(answer.serving);
  EXPECT_EQ(answer.why, "timeout: health rpc did not complete within 0s");
}

TEST_F(GrpcOverTcp, NobodyThereIsNoConnection) {
  const int nobody = port();
  acceptor.close();
  const HealthAnswer answer = check(nobody);
  EXPECT_FALSE(answer.serving);
  EXPECT_TRUE(answer.why.starts_with("timeout: failed to connect service \"127.0.0.1:"))
      << answer.why;
}

}  // namespace
}  // namespace krater::agent
