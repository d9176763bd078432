#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::bench {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/default/configmaps";

class FanOut {
 public:
  FanOut(const Target& target, const WatchOptions& options)
      : target_(target), options_(options), id_(run_id()) {
    auto now = Runner(target).run(1, 1, [](int) { return get(std::string(kPath) + "?limit=1"); });
    CHECK(now.failed == 0);
    from_ = text_at(*parse_json(now.last_body), {"metadata", "resourceVersion"});
    bytes_before_ = Runner(target).metric(kServerBytes);
  }

  void run() {
    start_ = Clock::now();
    loop_.post([this] {
      for (int i = 0; i < options_.watchers; ++i) open();
    });
    loop_.run();
    // The watches are still open.
    bytes_a_watch = (Runner(target_).metric(kServerBytes) - bytes_before_) / options_.watchers;
    seconds_an_event = (Runner(target_).metric(kServerSeconds) - seconds_before_) /
                       options_.writes / options_.watchers;
    streams_.clear();
  }

  Latencies first, last;
  double open_seconds = 0, bytes_a_watch = 0, seconds_an_event = 0;

 private:
  void open() {
    HttpStreamHandlers handlers;
    handlers.on_head = [this](const HttpResponse& head) {
      CHECK_MSG(head.status == 200, head.body);
      if (++open_ == options_.watchers) all_open();
    };
    handlers.on_data = [this](std::string_view data) { saw(data); };
    handlers.on_end = [](const Result<void>& end) {
      CHECK_MSG(false, end ? "a watch ended" : end.error().message);
    };
    HttpRequest request = get(target_.url + kPath + "?watch=true&resourceVersion=" + from_);
    request.timeout = std::chrono::seconds(300);
    streams_.push_back(http_->stream(std::move(request), std::move(handlers)));
  }

  void all_open() {
    open_seconds = seconds_since(start_);
    seconds_before_ = Runner(target_).metric(kServerSeconds);
    write();
  }

  void write() {
    if (number_ == options_.writes) return loop_.stop();
    seen_ = 0;
    HttpRequest request = post(target_.url + kPath,
                               config_map("watched-" + id_ + "-" + std::to_string(number_++), 256));
    start_ = Clock::now();
    writing_ = http_->send(std::move(request), [](const Result<HttpResponse>& reply) {
      CHECK(reply && reply->status == 201);
    });
  }

  // An event is a line.
  void saw(std::string_view data) {
    const auto lines = static_cast<int>(std::count(data.begin(), data.end(), '\n'));
    if (seen_ == 0 && lines > 0) first.add(start_);
    seen_ += lines;
    if (lines == 0 || seen_ < options_.watchers) return;
    last.add(start_);
    loop_.post([this] { write(); });
  }

  const Target& target_;
  const WatchOptions& options_;
  const std::string id_;
  std::string from_;
  runtime::AsioLoop loop_;
  std::unique_ptr<HttpClient> http_ = runtime::make_http_client(loop_, target_.identity);
  std::vector<std::unique_ptr<HttpExchange>> streams_;
  std::unique_ptr<HttpExchange> writing_;
  Clock::time_point start_;
  double bytes_before_ = 0, seconds_before_ = 0;
  int open_ = 0, seen_ = 0, number_ = 0;
};

}  // namespace

int bench_watch(const Target& target, const WatchOptions& options) {
  FanOut fan_out(target, options);
  fan_out.run();
  std::printf(
      "watch: %s: %d watchers opened in %.2f s, %.1f KB of the server's memory each; %d writes: "
      "last "
      "watcher has it after p50 %.1f ms, p99 %.1f ms (first: p50 %.1f ms), %.1f us of the server's "
      "processors an event\n",
      target.name.c_str(), options.watchers, fan_out.open_seconds, fan_out.bytes_a_watch / 1024,
      options.writes, fan_out.last.at(0.5), fan_out.last.at(0.99), fan_out.first.at(0.5),
      fan_out.seconds_an_event * 1e6);
  return 0;
}

}  // namespace krater::bench
