// What /metrics tells, in Prometheus' text form and under kube-apiserver's names: requests by verb,
// resource and code, their duration and size, long-running ones, events sent to watches, who could
// be recognised and what he may do, and whatever others register. Labels stand in byte order, as
// Go's client writes them. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace krater::api {

class Metrics {
 public:
  // Of a request. `verb` in kube-apiserver's capitals ("LIST", "APPLY"), `scope` one of cluster,
  // namespace, resource or nothing; a plain path is its own subresource.
  struct Labels {
    std::string verb, dry_run, group, version, resource, subresource, scope;
    friend auto operator<=>(const Labels&, const Labels&) = default;
  };
  // Once a request is over. `bytes`: of a read's answer, 0 when not known.
  void count_request(const Labels& labels, int code, std::chrono::nanoseconds took,
                     std::size_t bytes = 0);
  // Refused before anybody looked at it (429).
  void count_termination(const Labels& labels, int code);

  // While it lives the request counts as a long-running one.
  class LongRunning {
   public:
    LongRunning(Metrics& owner, const Labels& labels);
    ~LongRunning() { --*count_; }
    LongRunning(const LongRunning&) = delete;
    LongRunning& operator=(const LongRunning&) = delete;

   private:
    std::shared_ptr<std::atomic<std::int64_t>> count_;
  };

  // Events sent to watches of a kind; kept by the stream, so that counting costs one addition.
  std::shared_ptr<std::atomic<std::uint64_t>> watch_events(std::string_view group,
                                                           std::string_view version,
                                                           std::string_view kind);

  // `result`: success or failure. `user`: who it was, told by class, never by name.
  void count_authentication(std::string_view result, std::string_view user,
                            std::chrono::nanoseconds took);
  // `result`: allowed or denied.
  void count_authorization(std::string_view result, std::chrono::nanoseconds took);

  // A value asked for at each scrape. `name` and `help` as Prometheus has them.
  void add_gauge(std::string name, std::string help, std::function<double()> value);
  // Values with labels (`name="pods"`, without braces), asked for at each scrape. `type`: counter,
  // gauge or histogram.
  struct Sample {
    std::string labels;
    double value;
    std::string suffix{};  // of a histogram: _bucket, _sum, _count
  };
  void add_family(std::string name, std::string help, std::string type,
                  std::function<std::vector<Sample>()> samples);
  // For values that live on a loop of their own: called before each scrape, answers when they are
  // fresh. A scrape waits a moment for it and goes on without.
  using Refresh = std::function<void(std::function<void()> done)>;
  void add_refresh(Refresh refresh);
  std::vector<Refresh> refreshes() const;
  std::string text() const;

  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> watches{0};
  std::atomic<std::uint64_t> tls_handshake_errors{0};

 private:
  struct Histogram {
    explicit Histogram(const std::vector<double>& bucket_bounds)
        : bounds(&bucket_bounds), counts(bucket_bounds.size() + 1) {}
    void add(double value);
    void write(std::string& out, std::string_view name, const std::string& labels) const;
    const std::vector<double>* bounds;  // static
    std::vector<std::uint64_t> counts;
    double sum = 0;
  };
  struct Family {
    std::string name, help, type;
    std::function<std::vector<Sample>()> samples;
  };
  using Count = std::shared_ptr<std::atomic<std::int64_t>>;
  using EventCount = std::shared_ptr<std::atomic<std::uint64_t>>;

  void write_requests(std::string& out) const;
  void write_access(std::string& out) const;

  mutable std::mutex mutex_;
  std::map<std::pair<Labels, int>, std::uint64_t> requests_, terminations_;
  std::map<Labels, Histogram> durations_, sizes_;
  std::map<Labels, Count> long_running_;
  std::map<std::tuple<std::string, std::string, std::string>, EventCount> watch_events_;
  std::map<std::string, std::uint64_t, std::less<>> authentications_, authorizations_, users_;
  std::map<std::string, Histogram, std::less<>> authentication_time_, authorization_time_;
  std::vector<Family> families_;
  std::vector<Refresh> refreshes_;
};

// process_* of this process, from /proc.
void add_process_metrics(Metrics& metrics);

}  // namespace krater::api
