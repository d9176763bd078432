#include "agent/net/service_rules.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "agent/net/command.h"
#include "agent/net/testing/world.h"

namespace krater::agent {
namespace {

TEST(ServiceRules, SpreadOverReadyEndpointsAndRefuseEmptyServices) {
  const testing::World world;
  const std::string rules = service_rules(world.cache, {});
  EXPECT_NE(rules.find("ip daddr 10.96.0.10 tcp dport 80 dnat to numgen random mod 2 map { 0 : "
                       "10.88.0.5 . 8080, 1 : 10.88.0.7 . 8080 }"),
            std::string::npos)
      << rules;
  EXPECT_NE(rules.find("tcp dport 30080 dnat"), std::string::npos);
  EXPECT_NE(rules.find("ip daddr 10.96.0.11 udp dport 5 reject"), std::string::npos);
  EXPECT_EQ(rules.find("None"), std::string::npos);
}

TEST(ServiceRules, AnApiOnLoopbackIsReachedWhereTheNodeForwardsIt) {
  testing::World world;
  world.put(
      kinds::kService,
      R"({"metadata":{"name":"kubernetes","namespace":"default"},"spec":{"clusterIP":"10.96.0.1","ports":[{"name":"https","port":443,"protocol":"TCP"}]}})");
  const auto slice = [&](const std::string& address) {
    world.put(
        kinds::kEndpointSlice,
        R"({"metadata":{"name":"kubernetes","namespace":"default","labels":{"kubernetes.io/service-name":"kubernetes"}},"addressType":"IPv4",
        "ports":[{"name":"https","port":6443,"protocol":"TCP"}],"endpoints":[{"addresses":[")" +
            address + R"("],"conditions":{"ready":true}}]})");
    world.loop.run_ready();
  };
  const std::string match = "ip daddr 10.96.0.1 tcp dport 443 ";
  const RuleSettings forwarding{.api = ApiTarget{"10.88.0.1", 40123}};
  slice("127.0.0.1");
  EXPECT_NE(service_rules(world.cache, forwarding).find(match + "dnat to 10.88.0.1:40123"),
            std::string::npos);
  EXPECT_NE(service_rules(world.cache, {}).find(match + "reject"), std::string::npos);
  const std::string own =
      "policy accept;\n    " + match + "dnat to 127.0.0.1:6443\n    jump services";
  EXPECT_NE(service_rules(world.cache, forwarding).find(own), std::string::npos)
      << "the machine's own programs go there directly";
  slice("192.0.2.9");
  EXPECT_NE(service_rules(world.cache, forwarding).find(match + "dnat to 192.0.2.9:6443"),
            std::string::npos);
}

// The kernel's own parser is the judge: `nft --check` changes nothing.
TEST(ServiceRules, AreAcceptedByNftables) {
  if (::geteuid() != 0) GTEST_SKIP() << "checking rules needs root";
  const testing::World world;
  boost::asio::io_context io;
  Result<CommandOutcome> outcome = make_error(Code::Internal, "not run");
  run_command(io, {"nft", "--check", "-f", "-"},
              service_rules(world.cache, {.table = "krater-test"}),
              [&](Result<CommandOutcome> done) { outcome = std::move(done); });
  io.run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output;
}

TEST(Command, TellsExitCodesOutputAndMissingPrograms) {
  boost::asio::io_context io;
  Result<CommandOutcome> outcome = make_error(Code::Internal, "not run");
  const auto keep = [&](Result<CommandOutcome> done) { outcome = std::move(done); };
  run_command(io, {"sh", "-c", "cat; echo bad >&2; exit 3"}, "given\n", keep);
  io.run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->output, "given\nbad\n");
  io.restart();
  run_command(io, {"no-such-program-here"}, "", keep);
  io.run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::NotFound);
}

}  // namespace
}  // namespace krater::agent
