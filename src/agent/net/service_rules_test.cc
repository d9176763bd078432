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
