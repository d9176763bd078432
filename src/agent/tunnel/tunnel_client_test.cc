#include "agent/tunnel/tunnel_client.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/logs/cri.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

// A server at the other end: keeps what the agent sends, says what it likes.
class FakeConnector final : public WebSocketConnector {
 public:
  struct Socket final : WebSocket {
    explicit Socket(FakeConnector& owner) : connector(owner) {}
    void send(std::string message) override { connector.sent.push_back(*tunnel::decode(message)); }
    std::size_t queued_bytes() const override { return connector.queued; }
    FakeConnector& connector;
  };
  std::unique_ptr<WebSocket> connect(std::string, std::vector<std::pair<std::string, std::string>>,
                                     WebSocketHandlers given) override {
    ++connections;
    handlers = std::move(given);
    return std::make_unique<Socket>(*this);
  }
  void say(const tunnel::Frame& frame) {
    const auto on_message = handlers.on_message;
    on_message(tunnel::encode(frame));
  }
  std::string text() const {
    std::string out;
    for (const tunnel::Frame& frame : sent) {
      if (frame.type == tunnel::FrameType::Data) out += tunnel::data_of(frame)->bytes;
    }
    return out;
  }
  bool ended() const { return !sent.empty() && sent.back().type == tunnel::FrameType::End; }

  WebSocketHandlers handlers;
  std::vector<tunnel::Frame> sent;
  std::size_t queued = 0;
  int connections = 0;
};

struct TunnelClientTest : ::testing::Test {
  std::filesystem::path directory;
  krater::testing::ManualLoop loop;
  SeededRng rng{1};
  FakeConnector server;
  Result<LogPlace> place = LogPlace{};
  std::unique_ptr<TunnelClient> client;

  void SetUp() override {
    char name[] = "/tmp/krater-tunnel-XXXXXX";
    directory = ::mkdtemp(name);
    place = LogPlace{directory, 0, true};
    client = std::make_unique<TunnelClient>(
        server, loop, loop.wall(), rng, [this](const tunnel::LogRequest&) { return place; },
        TunnelSettings{"wss://s/krater/v1/tunnel"});
    client->start();
    server.handlers.on_open();
  }
  void TearDown() override { std::filesystem::remove_all(directory); }
  void write(const std::string& text) {
    std::string record;
    append_record(record, loop.wall().now(), "stdout", true, text);
    if (record.back() != '\n') record += '\n';
    std::ofstream(directory / "0.log", std::ios::app) << record;
  }
  void ask(bool follow) {
    tunnel::LogRequest request{.name_space = "d", .pod = "p", .uid = "u", .container = "c"};
    request.follow = follow;
    server.say(tunnel::open_frame(1, tunnel::kLogs, tunnel::to_json_value(request)));
  }
};

TEST_F(TunnelClientTest, SendsALogAndItsEnd) {
  write("hello");
  ask(false);
  ASSERT_EQ(server.sent.front().type, tunnel::FrameType::Accept);
  EXPECT_EQ(server.text(), "hello\n");
  EXPECT_TRUE(server.ended());
}

TEST_F(TunnelClientTest, FollowsUntilTheContainerEnds) {
  write("one");
  ask(true);
  EXPECT_FALSE(server.ended());
  write("two");
  loop.advance(200ms);
  EXPECT_EQ(server.text(), "one\ntwo\n");
  write("last words");
  place->running = false;
  loop.advance(200ms);
  EXPECT_EQ(server.text(), "one\ntwo\nlast words\n");
  EXPECT_TRUE(server.ended());
}

TEST_F(TunnelClientTest, WaitsForTheWindow) {
  for (int i = 0; i < 400; ++i) write(std::string(1023, 'x'));
  ask(false);
  EXPECT_EQ(server.text().size(), tunnel::kInitialWindow);
  EXPECT_FALSE(server.ended());
  server.say(tunnel::window_frame(1, 1 << 20));
  EXPECT_EQ(server.text().size(), 400U * 1024);
  EXPECT_TRUE(server.ended());
}

TEST_F(TunnelClientTest, AFailureInsteadOfAcceptTellsWhy) {
  place = make_error(Code::BadRequest,
                     "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
  ask(true);
  ASSERT_EQ(server.sent.size(), 1U);
  EXPECT_EQ(tunnel::failure_of(server.sent[0])->message, place.error().message);
}

TEST_F(TunnelClientTest, ReconnectsAfterTheConnectionEnds) {
  const auto on_close = server.handlers.on_close;
  on_close(make_error(Code::Unavailable, "gone"));
  EXPECT_FALSE(client->connected());
  loop.advance(1s);
  EXPECT_EQ(server.connections, 2);
}

}  // namespace
}  // namespace krater::agent
