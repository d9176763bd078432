// The operating system's time, chance and signals. Built in src/cli only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"

namespace krater::runtime {

class AsioLoop;

class SystemClock final : public WallClock {
 public:
  WallTime now() const override;
};

// OpenSSL's generator. Any thread.
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;
};

// Calls `on_stop` on the loop for SIGTERM and SIGINT (each time). SIGPIPE is ignored for the
// process.
class StopSignals {
 public:
  StopSignals(AsioLoop& loop, std::function<void(int signal)> on_stop);
  ~StopSignals();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Host name and primary address: what the server certificate is also good for.
std::vector<std::string> own_names();
std::string host_name();
// The first IPv4 address that is not loopback; 127.0.0.1 when there is none.
std::string primary_address();

}  // namespace krater::runtime
