#include "agent/net/dns_message.h"

#include <array>

#include "base/strings.h"

namespace krater::agent::dns {
namespace {

constexpr std::size_t kHeadBytes = 12;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kTypeOpt = 41;

std::uint16_t read16(std::string_view message, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(message[at]) << 8 |
                                    static_cast<unsigned char>(message[at + 1]));
}

void append16(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 0xff);
}

void append32(std::string& out, std::uint32_t value) {
  append16(out, static_cast<std::uint16_t>(value >> 16));
  append16(out, static_cast<std::uint16_t>(value & 0xffff));
}

// Labels at `at`, which moves behind them. Questions come uncompressed; a pointer is refused.
Result<std::string> read_name(std::string_view message, std::size_t& at) {
  std::string out;
  for (;;) {
    if (at >= message.size()) return make_error(Code::BadRequest, "name runs out of the message");
    const auto length = static_cast<unsigned char>(message[at++]);
    if (length == 0) return to_lower(out);
    if (length > 63 || at + length > message.size() || out.size() + length > 253) {
      return make_error(Code::BadRequest, "bad label");
    }
    if (!out.empty()) out += '.';
    out.append(message.substr(at, length));
    at += length;
  }
}

void append_name(std::string& out, std::string_view name) {
  if (!name.empty()) {
    for (std::string_view label : split(name, '.')) {
      const std::string_view cut = label.substr(0, 63);
      out += static_cast<char>(cut.size());
      out.append(cut);
    }
  }
  out += '\0';
}

bool append_address(std::string& out, std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 4) return false;
  for (std::string_view part : parts) {
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > 255) return false;
    out += static_cast<char>(*number);
  }
  return true;
}

void append_data(std::string& out, const Record& record) {
  std::string data;
  switch (record.type) {
    case Type::A:
      append_address(data, record.data);
      break;
    case Type::Srv:
      append16(data, record.priority);
      append16(data, record.weight);
      append16(data, record.port);
      append_name(data, record.data);
      break;
    case Type::Cname:
    case Type::Ptr:
      append_name(data, record.data);
      break;
    case Type::Soa:
      append_name(data, "ns.dns." + record.data);
      append_name(data, "hostmaster." + record.data);
      for (std::uint32_t number : {1U, 7200U, 1800U, 86400U, 5U}) append32(data, number);
      break;
    case Type::Aaaa:
    case Type::Any:
      break;
  }
  append16(out, static_cast<std::uint16_t>(data.size()));
  out += data;
}

void append_record(std::string& out, const Record& record) {
  append_name(out, record.name);
  append16(out, static_cast<std::uint16_t>(record.type));
  append16(out, kClassIn);
  append32(out, record.ttl_seconds);
  append_data(out, record);
}

// QR and AA set, RD copied, RA set.
std::uint16_t flags(bool recursion_desired, bool truncated, Rcode rcode) {
  return static_cast<std::uint16_t>(0x8400 | (recursion_desired ? 0x0100 : 0) | 0x0080 |
                                    (truncated ? 0x0200 : 0) | static_cast<std::uint16_t>(rcode));
}

std::string head(const Question& question, std::uint16_t bits, std::size_t answers,
                 std::size_t authorities) {
  std::string out;
  append16(out, question.id);
  append16(out, bits);
  append16(out, 1);
  append16(out, static_cast<std::uint16_t>(answers));
  append16(out, static_cast<std::uint16_t>(authorities));
  append16(out, 0);
  append_name(out, question.name);
  append16(out, question.type);
  append16(out, question.klass);
  return out;
}

}  // namespace

Result<Question> parse_query(std::string_view message) {
  if (message.size() < kHeadBytes) return make_error(Code::BadRequest, "shorter than a head");
  const std::uint16_t bits = read16(message, 2);
  if ((bits & 0x8000) != 0 || (bits & 0x7800) != 0)
    return make_error(Code::BadRequest, "not a standard query");
  if (read16(message, 4) != 1) return make_error(Code::BadRequest, "not exactly one question");
  Question out;
  out.id = read16(message, 0);
  out.recursion_desired = (bits & 0x0100) != 0;
  std::size_t at = kHeadBytes;
  TRY_ASSIGN(out.name, read_name(message, at));
  if (at + 4 > message.size())
    return make_error(Code::BadRequest, "question runs out of the message");
  out.type = read16(message, at);
  out.klass = read16(message, at + 2);
  at += 4;
  // An OPT record right behind the question tells how much the asker can take.
  const bool has_opt = read16(message, 6) == 0 && read16(message, 8) == 0 &&
                       read16(message, 10) >= 1 && at + 5 <= message.size() &&
                       message[at] == '\0' && read16(message, at + 1) == kTypeOpt;
  if (has_opt)
    out.udp_bytes =
        std::min<std::size_t>(std::max<std::size_t>(read16(message, at + 3), 512), 4096);
  return out;
}

std::string encode_answer(const Question& question, const Answer& answer, std::size_t limit) {
  const bool soa = answer.records.empty() && !answer.authority.empty();
  std::string out = head(question, flags(question.recursion_desired, false, answer.rcode),
                         answer.records.size(), soa ? 1 : 0);
  for (const Record& record : answer.records) append_record(out, record);
  if (soa)
    append_record(out, {.name = answer.authority, .type = Type::Soa, .data = answer.authority});
  if (out.size() <= limit) return out;
  return head(question, flags(question.recursion_desired, true, answer.rcode), 0, 0);
}

std::string encode_failure(std::string_view message, Rcode rcode) {
  if (message.size() < kHeadBytes) return {};
  std::string out(message.substr(0, 2));
  append16(out, flags((read16(message, 2) & 0x0100) != 0, false, rcode));
  for (int i = 0; i < 4; ++i) append16(out, 0);
  return out;
}

std::uint16_t message_id(std::string_view message) {
  return message.size() < 2 ? 0 : read16(message, 0);
}

void set_message_id(std::string& message, std::uint16_t id) {
  if (message.size() < 2) return;
  message[0] = static_cast<char>(id >> 8);
  message[1] = static_cast<char>(id & 0xff);
}

}  // namespace krater::agent::dns
