// One unary gRPC call over cleartext HTTP/2, as bytes in and bytes out: no socket, no clock. For
// health probes; the peer is whatever a user runs, so nothing of it is believed beyond small
// bounds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krater::agent {

struct GrpcReply {
  int status = 0;       // of the gRPC standard; 0: OK
  std::string message;  // of a status that is not OK
  std::string body;     // the message answered with, still in protobuf
};

class GrpcCall {
 public:
  // `authority` as "10.0.0.1:8080"; `path` as "/package.Service/Method"; `body` in protobuf.
  GrpcCall(std::string authority, std::string path, std::string user_agent, std::string body);
  ~GrpcCall();
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

  // What is to be sent now; may be empty.
  std::string output();
  // Code::Unavailable when the peer does not speak HTTP/2.
  Result<void> input(std::string_view bytes);
  const std::optional<GrpcReply>& reply() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "Unimplemented" for 12, as the libraries spell it; "Code(99)" for what is none.
std::string grpc_status_name(int status);

}  // namespace krater::agent
