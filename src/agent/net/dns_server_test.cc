#include "agent/net/dns_server.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "agent/net/testing/world.h"

namespace krater::agent::dns {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
using std::string_literals::operator""s;

std::string query(std::uint16_t id, const std::string& name) {
  std::string out{static_cast<char>(id >> 8), static_cast<char>(id & 0xff)};
  out += "\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    out += static_cast<char>(label.size());
    out += label;
    rest.remove_prefix(std::min(rest.size(), label.size() + 1));
  }
  return out + "\x00\x00\x01\x00\x01"s;
}

struct DnsServerTest : ::testing::Test {
  agent::testing::World world;
  Zone zone{world.cache, "cluster.local"};
  SeededRng rng{1};
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  udp::socket upstream{io, udp::endpoint(asio::ip::make_address("127.0.0.1"), 0)};
  std::unique_ptr<Server> server;
  std::thread thread;

  void SetUp() override {
    auto started = start_server(io, rng, zone,
                                {"127.0.0.1", 0, {"127.0.0.1"}, upstream.local_endpoint().port()});
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
    thread = std::thread([this] { io.run(); });
  }
  void TearDown() override {
    asio::post(io, [this] {
      server.reset();
      work.reset();
    });
    thread.join();
  }
  std::string over_udp(const std::string& message) {
    asio::io_context own;
    udp::socket socket(own, udp::v4());
    socket.send_to(asio::buffer(message),
                   udp::endpoint(asio::ip::make_address("127.0.0.1"), server->port()));
    std::string reply(512, '\0');
    reply.resize(socket.receive(asio::buffer(reply)));
    return reply;
  }
};

TEST_F(DnsServerTest, AnswersOverUdpAndTcp) {
  const std::string reply = over_udp(query(7, "head.d.svc.cluster.local"));
  EXPECT_EQ(message_id(reply), 7);
  EXPECT_EQ(reply.substr(reply.size() - 4), "\x0a\x58\x00\x09"s);

  asio::io_context own;
  tcp::socket socket(own);
  socket.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), server->port()));
  const std::string message = query(8, "web.d.svc.cluster.local");
  asio::write(socket, asio::buffer(std::string{'\0', static_cast<char>(message.size())} + message));
  std::string framed(2, '\0');
  asio::read(socket, asio::buffer(framed));
  std::string answer(static_cast<unsigned char>(framed[1]), '\0');
  asio::read(socket, asio::buffer(answer));
  EXPECT_EQ(answer.substr(answer.size() - 4), "\x0a\x60\x00\x0a"s);
}

TEST_F(DnsServerTest, ForwardsOtherNamesUnderAnIdOfItsOwn) {
  std::thread elsewhere([this] {
    std::string message(512, '\0');
    udp::endpoint from;
    asio::io_context own;
    message.resize(upstream.receive_from(asio::buffer(message), from));
    EXPECT_NE(message.find("example"), std::string::npos);
    upstream.send_to(asio::buffer(message + "ANSWER"), from);
  });
  const std::string reply = over_udp(query(99, "example.com"));
  elsewhere.join();
  EXPECT_EQ(message_id(reply), 99);
  EXPECT_TRUE(reply.ends_with("ANSWER"));
}

TEST_F(DnsServerTest, GarbageIsAnsweredNotFatal) {
  const std::string reply = over_udp("\x00\x01garbage-garbage"s);
  EXPECT_EQ(static_cast<int>(reply[3]) & 0x0f, static_cast<int>(Rcode::FormErr));
}

TEST(ResolvConf, ReadsItsNameservers) {
  EXPECT_EQ(nameservers_of(
                "# x\nsearch a b\nnameserver 10.0.0.2\nnameserver ::1\n nameserver 1.1.1.1 \n"),
            (std::vector<std::string>{"10.0.0.2", "1.1.1.1"}));
}

}  // namespace
}  // namespace krater::agent::dns
