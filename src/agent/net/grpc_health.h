// Asks a server for its health as gRPC defines it (grpc.health.v1.Health/Check): for grpc probes.
// On the agent's loop. The words of an answer are a kubelet's.
#pragma once

#include <functional>
#include <string>

#include "agent/net/grpc_call.h"
#include "base/time.h"

namespace krater::agent {

struct HealthAnswer {
  bool serving = false;
  std::string why;  // when it is not
};

class GrpcHealth {
 public:
  virtual ~GrpcHealth() = default;
  // `service` empty: the server as a whole. Answers once, after `timeout` at the latest.
  virtual void check(const std::string& host, int port, const std::string& service,
                     Duration timeout, std::function<void(const HealthAnswer&)> done) = 0;
};

// HealthCheckRequest in protobuf.
std::string health_request(const std::string& service);
HealthAnswer health_answer(const GrpcReply& reply);

}  // namespace krater::agent
