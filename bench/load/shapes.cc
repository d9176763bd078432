// Jobs of many one-CPU pods, as Volcano's own benchmark submits them, and when all pods are
// created, bound and running, by the client's own clock: from the moment the first object is sent
// until a watch of pods shows the last one. With `via` "vcjob" a client creates jobs and the job
// controller their pods; with "pods" clients create the PodGroups and every pod; with "none"
// everything is there already and the clock starts at the first list.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::bench {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
constexpr const char* kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
// What all pods of a run are called; nothing else that an event holds begins like that.
constexpr std::string_view kNameBegins = "\"name\":\"shape-";

class Shapes {
 public:
  Shapes(const Target& target, const ShapeOptions& options) : target_(target), options_(options) {}

  // False when not all came to run in time.
  bool run() {
    loop_.post([this] { watch(); });
    loop_.after(std::chrono::seconds(options_.seconds), [this] { loop_.stop(); });
    loop_.run();
    watching_.reset();
    under_way_.clear();
    return failed_ == 0 && all_there();
  }

  struct Moment {
    int count = 0;
    double first_ms = 0, last_ms = 0;
  };
  Moment acknowledged, created, bound, running;

  int total() const { return options_.jobs * options_.pods; }

 private:
  bool all_there() const {
    if (acknowledged.count < requests()) return false;
    if (options_.until == "first-bound") return bound.count > 0;
    const Moment& last = options_.until == "created" ? created
                         : options_.until == "bound" ? bound
                                                     : running;
    return last.count == total();
  }

  void watch() {
    HttpStreamHandlers handlers;
    handlers.on_head = [this](const HttpResponse& head) {
      CHECK_MSG(head.status == 200, head.body);
      began_ = Clock::now();
      for (int i = 0; i < options_.clients; ++i) next();
    };
    handlers.on_data = [this](std::string_view data) { take(data); };
    watching_ = http_->stream(get(target_.url + kPods + "?watch=true"), std::move(handlers));
  }

  int requests() const {
    if (options_.via == "none") return 0;
    return options_.via == "pods" ? options_.jobs + total() : options_.jobs;
  }

  // A group comes before its pods, as a job controller would write them.
  HttpRequest request(int number) const {
    const auto job_name = [this](int job) { return "shape-" + id_ + "-" + std::to_string(job); };
    const int minimum = options_.gang ? options_.pods : 1;
    if (options_.via == "vcjob")
      return post(target_.url + kJobs, vc_job(job_name(number), options_.pods, minimum));
    const int job = number / (options_.pods + 1), pod = number % (options_.pods + 1);
    if (pod == 0) return post(target_.url + kGroups, pod_group(job_name(job), minimum));
    return post(target_.url + kPods, group_pod(job_name(job), pod - 1));
  }

  void next() {
    if (sent_ == requests()) return;
    const int number = sent_++;
    HttpRequest one = request(number);
    one.timeout = std::chrono::seconds(60);
    under_way_[number] =
        http_->send(std::move(one), [this, number](const Result<HttpResponse>& reply) {
          const auto handle = std::move(under_way_.extract(number).mapped());
          if (!reply || reply->status != 201) {
            if (failed_++ == 0)
              std::fprintf(stderr, "first failure: %s\n",
                           reply ? reply->body.c_str() : reply.error().message.c_str());
          }
          reached(acknowledged);
          if (all_there()) loop_.stop();
          next();
        });
  }

  void reached(Moment& moment) const {
    moment.last_ms = seconds_since(began_) * 1000;
    if (moment.count++ == 0) moment.first_ms = moment.last_ms;
  }

  void take(std::string_view data) {
    pending_.append(data);
    std::size_t begin = 0;
    for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
      event(std::string_view(pending_).substr(begin, end - begin));
    pending_.erase(0, begin);
  }

  // Read by eye, not parsed: the client shares its processors with what it measures. Pods are
  // called <job>-t-<number>, their owner is called <job>.
  static std::string_view pod_name(std::string_view line) {
    for (std::size_t at = 0; (at = line.find(kNameBegins, at)) != std::string_view::npos; ++at) {
      const std::size_t begin = at + 8;
      const std::string_view name = line.substr(begin, line.find('"', begin) - begin);
      if (name.find("-t-") != std::string_view::npos) return name;
    }
    return {};
  }

  void event(std::string_view line) {
    const std::string_view name = pod_name(line);
    if (name.empty()) return;
    const auto [pod, is_new] = pods_.try_emplace(std::string(name), 0);
    if (is_new) reached(created);
    if (pod->second < 1 && line.find("\"nodeName\":\"") != std::string_view::npos) {
      pod->second = 1;
      reached(bound);
    }
    if (pod->second == 1 && line.find("\"phase\":\"Running\"") != std::string_view::npos) {
      pod->second = 2;
      reached(running);
    }
    if (all_there()) loop_.stop();
  }

  const Target& target_;
  const ShapeOptions& options_;
  const std::string id_ = run_id();
  runtime::AsioLoop loop_;
  std::unique_ptr<HttpClient> http_ = runtime::make_http_client(loop_, target_.identity);
  std::map<int, std::unique_ptr<HttpExchange>> under_way_;
  std::unordered_map<std::string, int> pods_;  // by name: 1 bound, 2 running
  std::unique_ptr<HttpExchange> watching_;
  std::string pending_;  // the begin of a line
  Clock::time_point began_;
  int sent_ = 0, failed_ = 0;
};

}  // namespace

int bench_shapes(const Target& target, const ShapeOptions& options) {
  Shapes shapes(target, options);
  const bool all = shapes.run();
  const auto print = [&](const char* what, const Shapes::Moment& at) {
    std::printf("shapes: %-12s %6d, first %8.0f ms, last %8.0f ms\n", what, at.count, at.first_ms,
                at.last_ms);
  };
  print("acknowledged", shapes.acknowledged);
  print("created", shapes.created);
  print("bound", shapes.bound);
  print("running", shapes.running);
  if (!all) std::printf("shapes: NOT ALL IN TIME\n");
  return all ? 0 : 1;
}

}  // namespace krater::bench
