#include "agent/net/dns_message.h"

#include <gtest/gtest.h>

namespace krater::agent::dns {
namespace {

using std::string_literals::operator""s;

// id 0x1234, RD, one question a.b A IN, with an OPT record of 1232 bytes.
const std::string kQuery =
    "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x01"
    "A\x01"
    "b\x00\x00\x01\x00\x01\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"s;

TEST(DnsMessage, ReadsAQuestion) {
  const auto question = parse_query(kQuery);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->id, 0x1234);
  EXPECT_EQ(question->name, "a.b");
  EXPECT_EQ(question->type, 1);
  EXPECT_TRUE(question->recursion_desired);
  EXPECT_EQ(question->udp_bytes, 1232U);
}

TEST(DnsMessage, RefusesWhatIsNoQuery) {
  EXPECT_FALSE(parse_query(""));
  EXPECT_FALSE(parse_query(kQuery.substr(0, 15)));
  std::string reply = kQuery;
  reply[2] = '\x81';
  EXPECT_FALSE(parse_query(reply));
  std::string pointer = kQuery;
  pointer[12] = '\xc0';
  EXPECT_FALSE(parse_query(pointer));
  for (std::size_t cut = 0; cut < 21; ++cut)
    EXPECT_FALSE(parse_query(kQuery.substr(0, cut))) << cut;
}

TEST(DnsMessage, WritesAnAddress) {
  const auto question = parse_query(kQuery);
  const std::string reply =
      encode_answer(*question, {Rcode::NoError, {{.name = "a.b", .data = "10.88.0.5"}}}, 512);
  EXPECT_EQ(reply.substr(0, 12), "\x12\x34\x85\x80\x00\x01\x00\x01\x00\x00\x00\x00"s);
  EXPECT_EQ(reply.substr(reply.size() - 6), "\x00\x04\x0a\x58\x00\x05"s);
}

TEST(DnsMessage, TruncatesWhatDoesNotFit) {
  const auto question = parse_query(kQuery);
  Answer answer;
  for (int i = 0; i < 100; ++i)
    answer.records.push_back({.name = "a.b", .data = "10.88.0." + std::to_string(i)});
  const std::string reply = encode_answer(*question, answer, 512);
  EXPECT_LE(reply.size(), 512U);
  EXPECT_EQ(reply[2] & 0x02, 0x02);
  EXPECT_EQ(encode_answer(*question, answer, 65535)[2] & 0x02, 0);
}

}  // namespace
}  // namespace krater::agent::dns
