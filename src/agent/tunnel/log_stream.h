// One log request on a tunnel, as a machine without I/O of its own: step() sends what may be sent.
// On the agent's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "agent/logs/log_reader.h"
#include "agent/tunnel/log_source.h"
#include "model/tunnel.h"

namespace krater::agent {

class LogStream {
 public:
  LogStream(std::uint32_t id, tunnel::LogRequest request, LogLookup lookup, WallTime now,
            std::function<void(tunnel::Frame)> send);

  enum class Next { Ended, AgainSoon, WaitForWindow };
  // Ended: the End frame has been sent. AgainSoon: nothing to read now, the log goes on.
  // WaitForWindow: call again after granted().
  Next step();
  void granted(std::uint32_t bytes) { window_.grant(bytes); }

 private:
  Next end(const std::optional<Error>& failure);
  bool open(const LogPlace& place);

  std::uint32_t id_;
  tunnel::LogRequest request_;
  LogLookup lookup_;
  LogOptions options_;
  std::function<void(tunnel::Frame)> send_;
  tunnel::SendWindow window_;
  std::unique_ptr<LogReader> reader_;
  int attempt_ = -1;
  std::string unsent_;
};

}  // namespace krater::agent
