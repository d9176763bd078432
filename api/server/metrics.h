// What /metrics tells in Prometheus' text form: requests by verb, resource and code, their
// duration, and gauges that others register. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace krater::api {

class Metrics {
 public:
  struct Labels {
    std::string verb, group, version, resource, subresource;
    friend auto operator<=>(const Labels&, const Labels&) = default;
  };
  void count_request(const Labels& labels, int code, std::chrono::nanoseconds took);
  // A value asked for at each scrape. `name` and `help` as Prometheus has them.
  void add_gauge(std::string name, std::string help, std::function<double()> value);
  std::string text() const;

  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> watches{0};

  static constexpr std::array<double, 12> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                  0.1,   0.25,   0.5,   1,    2.5,   10};

 private:
  struct Histogram {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    double sum = 0;
  };
  struct Gauge {
    std::string name, help;
    std::function<double()> value;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<Labels, int>, std::uint64_t> requests_;
  std::map<Labels, Histogram> durations_;
  std::vector<Gauge> gauges_;
};

// Resident memory of this process in bytes; 0 where /proc is not there.
double resident_bytes();

}  // namespace krater::api
