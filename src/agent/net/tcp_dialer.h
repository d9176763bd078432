// Tells whether something listens at an address: for tcpSocket probes. On the agent's loop.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace krater::agent {

class TcpDialer {
 public:
  virtual ~TcpDialer() = default;
  // Connects and closes at once. Code::Unavailable, Code::Timeout, Code::BadRequest (no such
  // address).
  virtual void try_connect(const std::string& host, int port, Duration timeout,
                           std::function<void(Result<void>)> done) = 0;
};

}  // namespace krater::agent
