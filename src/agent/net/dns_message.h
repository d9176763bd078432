// DNS messages (RFC 1035) as far as a cluster's resolver needs them: one question in, records out.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater::agent::dns {

enum class Type : std::uint16_t {
  A = 1,
  Cname = 5,
  Soa = 6,
  Ptr = 12,
  Aaaa = 28,
  Srv = 33,
  Any = 255
};
enum class Rcode : std::uint8_t {
  NoError = 0,
  FormErr = 1,
  ServFail = 2,
  NxDomain = 3,
  NotImp = 4,
  Refused = 5
};

struct Question {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;  // lower case, without the final dot
  std::uint16_t type = 0;
  std::uint16_t klass = 1;
  std::size_t udp_bytes = 512;  // what the asker can take (EDNS), at most 4096
};

struct Record {
  std::string name;
  Type type = Type::A;
  std::uint32_t ttl_seconds = 5;
  std::string data;  // A: dotted address; Cname, Ptr, Soa: a name; Srv: the target's name
  std::uint16_t port = 0, priority = 0, weight = 0;  // Srv
};

struct Answer {
  Rcode rcode = Rcode::NoError;
  std::vector<Record> records;
  std::string authority{};  // zone whose SOA goes along with an empty answer; "" for none
};

// Code::BadRequest for anything that is not a query with exactly one question.
Result<Question> parse_query(std::string_view message);
// Truncated (TC bit, no records) when it does not fit into `limit` bytes.
std::string encode_answer(const Question& question, const Answer& answer, std::size_t limit);
// An answer with this code to a message whose head could be read; empty when not even that.
std::string encode_failure(std::string_view message, Rcode rcode);
// The id in the first two bytes.
std::uint16_t message_id(std::string_view message);
void set_message_id(std::string& message, std::uint16_t id);

}  // namespace krater::agent::dns
