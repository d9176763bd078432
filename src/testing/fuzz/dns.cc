// DNS queries from pods: read or refused; an answer to what was read fits its limit.
#include <cstdint>

#include "agent/net/dns_message.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  (void)krater::agent::dns::encode_failure(message, krater::agent::dns::Rcode::FormErr);
  const auto question = krater::agent::dns::parse_query(message);
  if (!question) return 0;
  krater::agent::dns::Answer answer;
  for (int i = 0; i < 40; ++i)
    answer.records.push_back({.name = question->name, .data = "10.88.0.1"});
  CHECK(krater::agent::dns::encode_answer(*question, answer, 4096).size() <= 4096);
  return 0;
}
