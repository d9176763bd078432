#include "agent/net/grpc_health.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace krater::agent {
namespace {

constexpr int kDeadlineExceeded = 4, kUnimplemented = 12;

void put_varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::optional<std::uint64_t> take_varint(std::string_view& in) {
  std::uint64_t out = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return out;
  }
  return std::nullopt;
}

// Field 1 of a HealthCheckResponse; absent means 0, UNKNOWN. nullopt when it is no such message.
std::optional<std::uint64_t> serving_status(std::string_view body) {
  std::uint64_t out = 0;
  while (!body.empty()) {
    const auto tag = take_varint(body);
    const auto value = tag ? take_varint(body) : std::nullopt;
    if (!value) return std::nullopt;
    switch (*tag & 7) {
      case 0:
        if (*tag >> 3 == 1) out = *value;
        break;
      case 2:
        if (*value > body.size()) return std::nullopt;
        body.remove_prefix(*value);
        break;
      default:
        return std::nullopt;
    }
  }
  return out;
}

}  // namespace

std::string health_request(const std::string& service) {
  std::string out;
  if (service.empty()) return out;
  out += '\x0a';
  put_varint(service.size(), out);
  return out + service;
}

HealthAnswer health_answer(const GrpcReply& reply) {
  if (reply.status == kUnimplemented) {
    return {false,
            "error: this server does not implement the grpc health protocol "
            "(grpc.health.v1.Health): " +
                reply.message};
  }
  if (reply.status == kDeadlineExceeded)
    return {false, "timeout: health rpc did not complete: " + reply.message};
  if (reply.status != 0) {
    return {false, fmt::format("error: health rpc probe failed: rpc error: code = {} desc = {}",
                               grpc_status_name(reply.status), reply.message)};
  }
  static constexpr std::array<std::string_view, 4> kStatus{"UNKNOWN", "SERVING", "NOT_SERVING",
                                                           "SERVICE_UNKNOWN"};
  const auto status = serving_status(reply.body);
  if (!status) return {false, "error: health rpc probe failed: the answer cannot be read"};
  if (*status == 1) return {true, {}};
  return {false, fmt::format("service unhealthy (responded with \"{}\")",
                             *status < kStatus.size() ? std::string(kStatus[*status])
                                                      : std::to_string(*status))};
}

}  // namespace krater::agent
