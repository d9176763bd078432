#include "agent/net/dns_zone.h"

#include <gtest/gtest.h>

#include "agent/net/testing/world.h"

namespace krater::agent::dns {
namespace {

struct DnsZoneTest : ::testing::Test {
  agent::testing::World world;
  Zone zone{world.cache, "cluster.local"};

  std::string ask(const std::string& name, Type type = Type::A) {
    const auto answer = zone.answer({.name = name, .type = static_cast<std::uint16_t>(type)});
    if (!answer) return "forward";
    if (answer->rcode == Rcode::NxDomain) return "nxdomain";
    std::string out;
    for (const Record& record : answer->records) {
      out += (out.empty() ? "" : " ") + record.data +
             (record.port != 0 ? ":" + std::to_string(record.port) : "");
    }
    return out;
  }
};

TEST_F(DnsZoneTest, ServicesAndTheirMembers) {
  EXPECT_EQ(ask("web.d.svc.cluster.local"), "10.96.0.10");
  EXPECT_EQ(ask("head.d.svc.cluster.local"), "10.88.0.9");
  EXPECT_EQ(ask("zero.head.d.svc.cluster.local"), "10.88.0.9");
  EXPECT_EQ(ask("10-88-0-9.head.d.svc.cluster.local"), "10.88.0.9");
  EXPECT_EQ(ask("10-88-0-5.web.d.svc.cluster.local"), "10.88.0.5");
  EXPECT_EQ(ask("out.d.svc.cluster.local"), "example.com");
  EXPECT_EQ(ask("10-1-2-3.d.pod.cluster.local"), "10.1.2.3");
}

TEST_F(DnsZoneTest, NoSuchNameIsToldAtOnceAndOthersAreForwarded) {
  EXPECT_EQ(ask("missing.d.svc.cluster.local"), "nxdomain");
  EXPECT_EQ(ask("one.web.d.svc.cluster.local"), "nxdomain");
  EXPECT_EQ(ask("web.d.other.cluster.local"), "nxdomain");
  EXPECT_EQ(ask("example.com"), "forward");
  EXPECT_EQ(ask("notcluster.local"), "forward");
}

TEST_F(DnsZoneTest, AnExistingNameWithoutThatTypeIsEmptyNotMissing) {
  const auto answer = zone.answer(
      {.name = "web.d.svc.cluster.local", .type = static_cast<std::uint16_t>(Type::Aaaa)});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rcode, Rcode::NoError);
  EXPECT_TRUE(answer->records.empty());
  EXPECT_EQ(answer->authority, "cluster.local");
}

TEST_F(DnsZoneTest, PortsAndReverseNames) {
  EXPECT_EQ(ask("_http._tcp.web.d.svc.cluster.local", Type::Srv), "web.d.svc.cluster.local:80");
  EXPECT_EQ(ask("_gcs._tcp.head.d.svc.cluster.local", Type::Srv),
            "zero.head.d.svc.cluster.local:6379");
  EXPECT_EQ(ask("_none._tcp.web.d.svc.cluster.local", Type::Srv), "nxdomain");
  EXPECT_EQ(ask("10.0.96.10.in-addr.arpa", Type::Ptr), "web.d.svc.cluster.local");
  EXPECT_EQ(ask("9.0.88.10.in-addr.arpa", Type::Ptr), "zero.head.d.svc.cluster.local");
  EXPECT_EQ(ask("1.1.1.1.in-addr.arpa", Type::Ptr), "forward");
}

TEST_F(DnsZoneTest, UnreadyEndpointsAreLeftOut) {
  world.put(
      kinds::kEndpointSlice,
      R"({"metadata":{"name":"head-1","namespace":"d","labels":{"kubernetes.io/service-name":"head"}},
      "ports":[{"name":"gcs","port":6379}],"endpoints":[{"addresses":["10.88.0.9"],"conditions":{"ready":false}}]})");
  world.loop.run_ready();
  EXPECT_EQ(ask("head.d.svc.cluster.local"), "nxdomain");
}

}  // namespace
}  // namespace krater::agent::dns
