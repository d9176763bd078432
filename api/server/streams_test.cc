// Watches, logs and the tunnel over real connections.
#include <gtest/gtest.h>

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "api/server/testing/test_server.h"
#include "model/tunnel.h"

namespace krater::api {
namespace {

using testing::HttpsClient;
using testing::Reply;
using testing::TestServer;

const std::string kPods = "/api/v1/namespaces/default/pods";

std::string pod(const std::string& name, const std::string& node = "") {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{)" +
         (node.empty() ? "" : R"("nodeName":")" + node + R"(",)") +
         R"("containers":[{"name":"c","image":"busybox"}]}})";
}

Json event_of(HttpsClient& client) {
  return *parse_json(client.next_line());
}

std::string told(const Json& event) {
  return text_at(event, {"type"}) + " " + text_at(event, {"object", "metadata", "name"});
}

TEST(Watch, TellsWhatIsThereAndWhatHappens) {
  TestServer server;
  HttpsClient admin = server.admin();
  admin.send("POST", kPods, pod("a"));
  HttpsClient watcher = server.admin();
  const Reply head = watcher.open_stream(kPods + "?watch=true");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Content-Type"), "application/json");
  EXPECT_EQ(told(event_of(watcher)), "ADDED a");
  admin.send("POST", kPods, pod("b"));
  EXPECT_EQ(told(event_of(watcher)), "ADDED b");
  admin.send("PATCH", kPods + "/b", R"({"metadata":{"labels":{"x":"y"}}})",
             {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(told(event_of(watcher)), "MODIFIED b");
  admin.send("DELETE", kPods + "/b");
  EXPECT_EQ(told(event_of(watcher)), "DELETED b");
}

TEST(Watch, HeadersComeBeforeAnyEvent) {
  TestServer server;
  HttpsClient watcher = server.admin();
  EXPECT_EQ(watcher.open_stream(kPods + "?watch=true").status, 200);
}

TEST(Watch, EndsWithItsTimeAndABookmark) {
  TestServer server;
  HttpsClient watcher = server.admin();
  watcher.open_stream(kPods + "?watch=true&timeoutSeconds=1&allowWatchBookmarks=true");
  const Json bookmark = event_of(watcher);
  EXPECT_EQ(text_at(bookmark, {"type"}), "BOOKMARK");
  EXPECT_EQ(text_at(bookmark, {"object", "kind"}), "Pod");
  EXPECT_FALSE(text_at(bookmark, {"object", "metadata", "resourceVersion"}).empty());
  EXPECT_EQ(watcher.next_line(), "");
}

TEST(Watch, InitialEventsEndWithAMarkedBookmark) {
  TestServer server;
  server.admin().send("POST", kPods, pod("a"));
  HttpsClient watcher = server.admin();
  watcher.open_stream(kPods +
                      "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                      "allowWatchBookmarks=true");
  EXPECT_EQ(told(event_of(watcher)), "ADDED a");
  EXPECT_EQ(text_at(event_of(watcher),
                    {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
}

TEST(Watch, OfTablesCarriesTheColumnsOnce) {
  TestServer server;
  HttpsClient admin = server.admin();
  admin.send("POST", kPods, pod("a"));
  HttpsClient watcher = server.admin();
  watcher.open_stream(
      kPods + "?watch=true",
      {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});
  const Json first = event_of(watcher);
  EXPECT_EQ(text_at(first, {"object", "kind"}), "Table");
  EXPECT_NE(array_at(first, {"object", "columnDefinitions"}), nullptr);
  admin.send("POST", kPods, pod("b"));
  const Json second = event_of(watcher);
  EXPECT_TRUE(find(second, {"object", "columnDefinitions"})->is_null());
  EXPECT_EQ(array_at(second, {"object", "rows"})->size(), 1u);
}

TEST(Watch, IsLetGoWhenItsClientLeaves) {
  TestServer server;
  HttpsClient admin = server.admin();
  {
    HttpsClient watcher = server.admin();
    watcher.open_stream(kPods + "?watch=true");
    admin.send("POST", kPods, pod("a"));
    event_of(watcher);
    EXPECT_EQ(server.server().metrics().watches.load(), 1);
  }
  // The server notices by itself; a request on another connection only gives it occasions to.
  for (int i = 0; i < 1000 && server.server().metrics().watches.load() != 0; ++i)
    admin.send("GET", "/livez");
  EXPECT_EQ(server.server().metrics().watches.load(), 0);
}

TEST(Stop, EndsWatchesCleanlyAndIdleConnectionsAtOnce) {
  TestServer server;
  HttpsClient idle = server.admin();
  idle.send("GET", "/livez");
  HttpsClient watcher = server.admin();
  watcher.open_stream(kPods + "?watch=true");
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(watcher.next_line(), "");  // the last chunk, not a broken connection
  EXPECT_ANY_THROW(server.admin());
}

// An agent's end of the tunnel.
class Agent {
 public:
  Agent(TestServer& server, const std::string& node)
      : server_(server), tls_(boost::asio::ssl::context::tls_client), socket_(io_, tls_) {
    const WallTime now = WallTime::from_unix_seconds(std::time(nullptr));
    const CertifiedKey key = *server.authority().issue_client(
        {"system:node:" + node, {"system:nodes"}}, {now - 1h, now + 1h});
    tls_.use_certificate_chain(boost::asio::buffer(key.certificate_pem));
    tls_.use_private_key(boost::asio::buffer(key.key_pem), boost::asio::ssl::context::pem);
    SSL_use_certificate(socket_.next_layer().native_handle(),
                        SSL_CTX_get0_certificate(tls_.native_handle()));
    SSL_use_PrivateKey(socket_.next_layer().native_handle(),
                       SSL_CTX_get0_privatekey(tls_.native_handle()));
    boost::beast::get_lowest_layer(socket_).connect(
        {boost::asio::ip::address_v4::loopback(), server.server().port()});
    socket_.next_layer().handshake(boost::asio::ssl::stream_base::client);
  }
  void open(const std::string& query = "") {
    socket_.handshake("localhost", "/krater/v1/tunnel" + query);
    socket_.binary(true);
    // Accepted is a moment before it is known to those who ask for its pods' logs.
    HttpsClient admin = server_.admin();
    for (int i = 0; i < 1000; ++i) {
      if (admin.send("GET", "/metrics").body.find("\nkrater_tunnels 1\n") != std::string::npos)
        return;
    }
    FAIL() << "no tunnel is known";
  }
  tunnel::Frame read() {
    boost::beast::flat_buffer buffer;
    socket_.read(buffer);
    return *tunnel::decode(boost::beast::buffers_to_string(buffer.data()));
  }
  void send(const tunnel::Frame& frame) {
    socket_.write(boost::asio::buffer(tunnel::encode(frame)));
  }

 private:
  TestServer& server_;
  boost::asio::io_context io_;
  boost::asio::ssl::context tls_;
  boost::beast::websocket::stream<boost::asio::ssl::stream<boost::asio::ip::tcp::socket>> socket_;
};

TEST(PodLog, ComesThroughTheTunnelOfThePodsNode) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kPods, pod("a", "n1"));
  EXPECT_EQ(client.send("GET", kPods + "/a/log").status, 500);  // no agent is connected
  Agent agent(server, "n1");
  agent.open();
  client.send_raw("GET " + kPods +
                  "/a/log?tailLines=2&timestamps=true HTTP/1.1\r\nHost: x\r\n\r\n");
  const tunnel::Frame open = agent.read();
  const auto request = tunnel::log_request(tunnel::open_of(open)->params);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->pod, "a");
  EXPECT_EQ(request->container, "c");
  EXPECT_EQ(request->tail_lines, 2);
  EXPECT_TRUE(request->timestamps);
  agent.send({tunnel::FrameType::Accept, open.stream, ""});
  agent.send(tunnel::data_frame(open.stream, tunnel::Channel::Stdout, "one\n"));
  agent.send(tunnel::data_frame(open.stream, tunnel::Channel::Stdout, "two\n"));
  agent.send(tunnel::end_frame(open.stream, std::nullopt));
  const Reply log = client.receive();
  EXPECT_EQ(log.status, 200);
  EXPECT_EQ(log.header("Content-Type"), "text/plain");
  EXPECT_EQ(log.body, "one\ntwo\n");
}

TEST(PodLog, WhatTheAgentRefusesIsRefused) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kPods, pod("a", "n1"));
  Agent agent(server, "n1");
  agent.open();
  client.send_raw("GET " + kPods + "/a/log HTTP/1.1\r\nHost: x\r\n\r\n");
  const tunnel::Frame open = agent.read();
  agent.send(tunnel::end_frame(
      open.stream,
      make_error(Code::BadRequest,
                 "container \"c\" in pod \"a\" is waiting to start: ContainerCreating")));
  const Reply log = client.receive();
  EXPECT_EQ(log.status, 400);
  EXPECT_EQ(log.message(), "container \"c\" in pod \"a\" is waiting to start: ContainerCreating");
}

TEST(PodLog, FollowsUntilTheClientLeavesAndThenTellsTheAgent) {
  TestServer server;
  server.admin().send("POST", kPods, pod("a", "n1"));
  Agent agent(server, "n1");
  agent.open();
  std::uint32_t stream = 0;
  {
    HttpsClient client = server.admin();
    client.send_raw("GET " + kPods + "/a/log?follow=true HTTP/1.1\r\nHost: x\r\n\r\n");
    stream = agent.read().stream;
    agent.send({tunnel::FrameType::Accept, stream, ""});
  }
  const tunnel::Frame end = agent.read();
  EXPECT_EQ(end.type, tunnel::FrameType::End);
  EXPECT_EQ(end.stream, stream);
}

TEST(PodLog, SaysWhichContainersThereAre) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send(
      "POST", kPods,
      R"({"metadata":{"name":"p"},"spec":{"initContainers":[{"name":"i","image":"x"}],"containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]}})");
  EXPECT_EQ(client.send("GET", kPods + "/p/log").message(),
            "a container name must be specified for pod p, choose one of: [a b] or one of the init "
            "containers: [i]");
  EXPECT_EQ(client.send("GET", kPods + "/p/log?container=z").message(),
            "container z is not valid for pod p, choose one of: [a b] or one of the init "
            "containers: [i]");
  EXPECT_EQ(
      client.send("GET", kPods + "/p/log?container=a&sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z")
          .status,
      422);
  EXPECT_EQ(client.send("GET", kPods + "/p/log?container=a&tailLines=-1").status, 422);
  EXPECT_EQ(client.send("GET", kPods + "/none/log").status, 404);
}

TEST(Tunnel, IsOnlyForTheNodeItself) {
  TestServer server;
  Agent agent(server, "n1");
  EXPECT_ANY_THROW(agent.open("?node=n2"));
  EXPECT_EQ(server.client_as("jane", {}).send("GET", "/krater/v1/tunnel?node=n1").status, 403);
  EXPECT_EQ(server.node("n1").send("GET", "/krater/v1/tunnel").message(),
            "Upgrade request required");
}

}  // namespace
}  // namespace krater::api
