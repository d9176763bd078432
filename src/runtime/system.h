// The operating system's time, chance and names. Built in src/cli only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/env.h"

namespace krater::runtime {

class SystemClock final : public WallClock {
 public:
  WallTime now() const override;
};

// OpenSSL's generator. Any thread.
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, 64> drawn_{};  // each is handed out once
  std::size_t left_ = 0;
};

// Allows this process (and what it starts) as many open files as the system lets it, and returns
// how many these are.
std::size_t raise_open_files();

// The calling thread: it gets what processor time the others leave. For simulated nodes, which
// stand for machines of their own and would else take it from what they are served by.
void yield_to_others();

// Host name and primary address: what the server certificate is also good for.
std::vector<std::string> own_names();
std::string host_name();
// The first IPv4 address that is not loopback; 127.0.0.1 when there is none.
std::string primary_address();

}  // namespace krater::runtime
