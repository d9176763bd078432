// RayJobs submitted at once, and when all pods of each gang are bound, by the client's own clock:
// from the moment a RayJob is sent until the watch of pods shows the last of its gang on a node.
// So it holds the write itself, both controllers, the scheduler, the bind and the watch.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"
#include "model/keys.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::bench {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kRayJobs = "/apis/ray.io/v1/namespaces/default/rayjobs";

struct Gang {
  Clock::time_point submitted;
  std::map<std::string, bool> pods;  // by name: bound?
  int bound = 0;
  std::unique_ptr<HttpExchange> submission;
};

class Gangs {
 public:
  Gangs(const Target& target, const GangOptions& options)
      : target_(target), options_(options), members_(options.workers + 1) {}

  // False when not all were bound in time.
  bool run() {
    const std::string id = run_id();
    loop_.post([this, id] { watch(id); });
    loop_.after(std::chrono::seconds(options_.seconds), [this] { loop_.stop(); });
    loop_.run();
    watching_.reset();
    gangs_.clear();
    return done_ == options_.jobs;
  }

  int done() const { return done_; }
  Latencies acknowledged, first_pod, all_pods, bound;
  double makespan_ms = 0;

 private:
  void watch(const std::string& id) {
    HttpStreamHandlers handlers;
    handlers.on_head = [this, id](const HttpResponse& head) {
      CHECK_MSG(head.status == 200, head.body);
      submit(id);
    };
    handlers.on_data = [this](std::string_view data) { take(data); };
    HttpRequest request = get(target_.url + kPods + "?watch=true");
    watching_ = http_->stream(std::move(request), std::move(handlers));
  }

  void submit(const std::string& id) {
    began_ = Clock::now();
    for (int i = 0; i < options_.jobs; ++i) {
      const std::string name = "gang-" + id + "-" + std::to_string(i);
      Gang& gang = gangs_["ray-" + name + "-pg"];
      HttpRequest request =
          post(target_.url + kRayJobs, ray_job(name, options_.workers, options_.queue));
      gang.submitted = Clock::now();
      gang.submission =
          http_->send(std::move(request), [this, &gang](const Result<HttpResponse>& reply) {
            CHECK_MSG(reply && reply->status == 201, reply ? reply->body : reply.error().message);
            acknowledged.add(gang.submitted);
          });
    }
  }

  void take(std::string_view data) {
    pending_.append(data);
    std::size_t begin = 0;
    for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
      event(std::string_view(pending_).substr(begin, end - begin));
    pending_.erase(0, begin);
  }

  void event(std::string_view line) {
    const Result<Json> event = parse_json(line);
    CHECK_MSG(event.has_value(), std::string(line));
    const auto name = string_at(*event, {"object", "metadata", "name"});
    const auto group = string_at(*event, {"object", "metadata", "annotations", keys::kGroupName});
    const auto node = string_at(*event, {"object", "spec", "nodeName"});
    const auto place = group ? gangs_.find(std::string(*group)) : gangs_.end();
    if (!name || place == gangs_.end()) return;
    Gang& gang = place->second;
    const auto [pod, is_new] = gang.pods.try_emplace(std::string(*name), false);
    const auto members = static_cast<std::size_t>(members_);
    if (is_new && gang.pods.size() == 1) first_pod.add(gang.submitted);
    if (is_new && gang.pods.size() == members) all_pods.add(gang.submitted);
    if (!node || node->empty() || std::exchange(pod->second, true)) return;
    if (++gang.bound != members_) return;
    bound.add(gang.submitted);
    if (++done_ < options_.jobs) return;
    makespan_ms = seconds_since(began_) * 1000;
    loop_.stop();
  }

  const Target& target_;
  const GangOptions& options_;
  const int members_;
  runtime::AsioLoop loop_;
  std::unique_ptr<HttpClient> http_ = runtime::make_http_client(loop_, target_.identity);
  std::map<std::string, Gang> gangs_;  // by PodGroup
  std::unique_ptr<HttpExchange> watching_;
  std::string pending_;  // the begin of a line
  Clock::time_point began_;
  int done_ = 0;
};

}  // namespace

int bench_gangs(const Target& target, const GangOptions& options) {
  Gangs gangs(target, options);
  const bool all = gangs.run();
  const auto print = [](const char* what, Latencies& of) {
    std::printf("gangs: submit to %-14s p50 %7.1f ms, p99 %7.1f ms, of %zu\n", what, of.at(0.5),
                of.at(0.99), of.ms.size());
  };
  print("acknowledged", gangs.acknowledged);
  print("first pod", gangs.first_pod);
  print("last pod", gangs.all_pods);
  print("all bound", gangs.bound);
  std::printf("gangs: %d of %d gangs of %d bound%s\n", gangs.done(), options.jobs,
              options.workers + 1, all ? "" : ": NOT ALL IN TIME");
  if (all) std::printf("gangs: all bound %.1f ms after the first was sent\n", gangs.makespan_ms);
  return all ? 0 : 1;
}

}  // namespace krater::bench
