#include "agent/net/api_forwarder.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <thread>

namespace krater::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The forwarder on its own thread; the test plays pod and server with plain sockets.
struct ApiForwarderTest : ::testing::Test {
  asio::io_context io, mine;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  tcp::acceptor server{mine, {asio::ip::make_address("127.0.0.1"), 0}};
  std::unique_ptr<ApiForwarder> forwarder;
  std::thread thread;

  void start(bool welcome = true, std::size_t most = 10) {
    auto made = start_api_forwarder(
        io, {"127.0.0.1", "127.0.0.1", server.local_endpoint().port(),
             [welcome](std::uint32_t address) { return welcome && address == 0x7f000001; }, most});
    ASSERT_TRUE(made) << made.error().message;
    forwarder = *std::move(made);
    thread = std::thread([this] { io.run(); });
  }
  void TearDown() override {
    asio::post(io, [this] {
      forwarder.reset();
      work.reset();
    });
    if (thread.joinable()) thread.join();
  }
  tcp::socket pod() {
    tcp::socket out(mine);
    out.connect({asio::ip::make_address("127.0.0.1"), forwarder->port()});
    return out;
  }
  static std::string rest(tcp::socket& socket) {
    std::string out;
    error_code end;
    asio::read(socket, asio::dynamic_buffer(out), end);
    return out;
  }
};

TEST_F(ApiForwarderTest, CarriesBytesBothWaysAndTheEndOfEach) {
  start();
  tcp::socket client = pod();
  const std::string question(300'000, 'q'), answer(200'000, 'a');
  std::thread writer([&] {
    asio::write(client, asio::buffer(question));
    client.shutdown(tcp::socket::shutdown_send);
  });
  tcp::socket peer = server.accept();
  EXPECT_EQ(rest(peer), question);
  asio::write(peer, asio::buffer(answer));
  peer.close();
  writer.join();
  EXPECT_EQ(rest(client), answer);
}

TEST_F(ApiForwarderTest, WhoIsNotOfThePodNetworkIsTurnedAway) {
  start(false);
  tcp::socket client = pod();
  EXPECT_EQ(rest(client), "");
}

TEST_F(ApiForwarderTest, TakesABoundedNumberAtATime) {
  start(true, 1);
  tcp::socket first = pod();
  tcp::socket peer = server.accept();
  tcp::socket second = pod();
  EXPECT_EQ(rest(second), "");
  asio::write(first, asio::buffer("x", 1));
  std::array<char, 1> byte{};
  asio::read(peer, asio::buffer(byte));
  EXPECT_EQ(byte[0], 'x') << "the first is not disturbed";
}

TEST_F(ApiForwarderTest, AServerThatIsAwayEndsTheConnection) {
  server.listen();
  start();
  server.close();
  tcp::socket client = pod();
  EXPECT_EQ(rest(client), "");
}

}  // namespace
}  // namespace krater::agent
