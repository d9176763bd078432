// Many clients on one loop, each with one request under way. Each run has new connections.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/http.h"
#include "bench/load/measure.h"
#include "bench/load/target.h"

namespace krater::bench {

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

 private:
  Outcome send(int clients, int requests, const std::function<HttpRequest(int)>& make);
  double server_seconds();

  Target target_;
};

}  // namespace krater::bench
