// Many clients on one loop, each with one request under way. Each run has new connections.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/http.h"
#include "bench/load/measure.h"
#include "bench/load/target.h"

namespace krater::bench {

// Processor time and memory of a server's process, as servers with Prometheus metrics name them.
inline constexpr std::string_view kServerSeconds = "process_cpu_seconds_total";
inline constexpr std::string_view kServerBytes = "process_resident_memory_bytes";

class Runner {
 public:
  explicit Runner(const Target& target) : target_(target) {}

  struct Outcome {
    double seconds = 0;
    double server_seconds = 0;  // processor time of the server's process meanwhile
    int failed = 0;
    std::size_t reply_bytes = 0;
    std::string last_body;
    Latencies latencies;
  };

  // Keeps `clients` requests under way until `requests` have been answered. `make` gives the
  // request of a number, its URL without the server's part. The first failure is printed.
  Outcome run(int clients, int requests, const std::function<HttpRequest(int)>& make);

  // What the server says of itself under a name without labels in /metrics; 0 where it says
  // nothing.
  double metric(std::string_view name);

 private:
  Outcome send(int clients, int requests, const std::function<HttpRequest(int)>& make);
  Target target_;
};

}  // namespace krater::bench
