#include "api/server/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <utility>

namespace krater::api {
namespace {

std::string label_text(const Metrics::Labels& labels) {
  return fmt::format(R"(verb="{}",group="{}",version="{}",resource="{}",subresource="{}")",
                     labels.verb, labels.group, labels.version, labels.resource,
                     labels.subresource);
}

void head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void Metrics::count_request(const Labels& labels, int code, std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  const std::lock_guard lock(mutex_);
  ++requests_[{labels, code}];
  Histogram& histogram = durations_[labels];
  ++histogram.counts[bucket];
  histogram.sum += seconds;
}

void Metrics::add_gauge(std::string name, std::string help, std::function<double()> value) {
  const std::lock_guard lock(mutex_);
  gauges_.push_back({std::move(name), std::move(help), std::move(value)});
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  head(out, "apiserver_request_total", "Requests by verb, resource and HTTP code.", "counter");
  for (const auto& [key, count] : requests_) {
    out += fmt::format("apiserver_request_total{{{},code=\"{}\"}} {}\n", label_text(key.first),
                       key.second, count);
  }
  head(out, "apiserver_request_duration_seconds",
       "Time from the request's head to the answer's head.", "histogram");
  for (const auto& [labels, histogram] : durations_) {
    const std::string text = label_text(labels);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      sum += histogram.counts[i];
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      out += fmt::format("apiserver_request_duration_seconds_bucket{{{},le=\"{}\"}} {}\n", text,
                         bound, sum);
    }
    out += fmt::format("apiserver_request_duration_seconds_sum{{{}}} {}\n", text, histogram.sum);
    out += fmt::format("apiserver_request_duration_seconds_count{{{}}} {}\n", text, sum);
  }
  head(out, "krater_connections", "Open HTTPS connections.", "gauge");
  out += fmt::format("krater_connections {}\n", connections.load());
  head(out, "krater_watches", "Open watch streams.", "gauge");
  out += fmt::format("krater_watches {}\n", watches.load());
  for (const Gauge& gauge : gauges_) {
    head(out, gauge.name, gauge.help, gauge.name.ends_with("_total") ? "counter" : "gauge");
    out += fmt::format("{} {}\n", gauge.name, gauge.value());
  }
  return out;
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double total = 0;
  double resident = 0;
  in >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace krater::api
