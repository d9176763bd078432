#include "sim/ray_dashboards.h"

#include "base/json.h"

namespace krater::sim {
namespace {

constexpr Duration kPending = 1s;
constexpr std::string_view kScheme = "http://", kJobs = "/api/jobs/", kStop = "/stop";

struct Asked {
  std::string ip, id;
  bool stop = false;
};

// http://<ip>:<port>/api/jobs/<id>[/stop]
std::optional<Asked> read_url(std::string_view url) {
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  const std::size_t colon = url.find(':');
  const std::size_t path = url.find(kJobs);
  if (colon == std::string_view::npos || path == std::string_view::npos) return std::nullopt;
  Asked out;
  out.ip = url.substr(0, colon);
  std::string_view id = url.substr(path + kJobs.size());
  out.stop = id.ends_with(kStop);
  if (out.stop) id.remove_suffix(kStop.size());
  out.id = id;
  return out;
}

std::int64_t millis(WallTime time) {
  return time.unix_nanos() / 1'000'000;
}

}  // namespace

std::string RayDashboards::status_of(const Job& job) const {
  if (job.stopped) return "STOPPED";
  const Duration age = clock_.now() - job.start;
  if (age < kPending) return "PENDING";
  if (age < kPending + rules_.run_time) return "RUNNING";
  return job.fails ? "FAILED" : "SUCCEEDED";
}

bool RayDashboards::submit(const std::string& ip, const std::string& id) {
  if (!rules_.reachable(ip)) return false;
  const auto [place, is_new] = jobs_.try_emplace({ip, id});
  if (!is_new) return true;
  place->second.start = clock_.now();
  place->second.fails = rng_.below(1000) < rules_.fail_in_thousand;
  return true;
}

std::vector<RayDashboards::Program> RayDashboards::programs() const {
  std::vector<Program> out;
  for (const auto& [where, job] : jobs_)
    out.push_back({where.first, where.second, job.start, status_of(job)});
  return out;
}

Result<HttpResponse> RayDashboards::answer(const HttpRequest& request) {
  const std::optional<Asked> asked = read_url(request.url);
  if (!asked) return HttpResponse{404, {}, {}};
  if (!rules_.reachable(asked->ip))
    return make_error(Code::Unavailable, "no route to " + asked->ip);
  const auto place = jobs_.find({asked->ip, asked->id});
  if (place == jobs_.end()) return HttpResponse{404, {}, "Job " + asked->id + " does not exist"};
  Job& job = place->second;
  if (asked->stop) {
    job.stopped = job.stopped || status_of(job) == "PENDING" || status_of(job) == "RUNNING";
    return HttpResponse{200, {}, R"({"stopped":true})"};
  }
  Json body{{"submission_id", asked->id},
            {"status", status_of(job)},
            {"message", "as simulated"},
            {"start_time", millis(job.start)}};
  if (clock_.now() - job.start >= kPending + rules_.run_time)
    set_path(body, {"end_time"}, millis(job.start + kPending + rules_.run_time));
  return HttpResponse{200, {}, to_json(body)};
}

class RayDashboards::Client final : public HttpClient {
 public:
  Client(RayDashboards& world, Loop& lane) : world_(world), lane_(lane) {}

  std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) override {
    auto exchange = std::make_unique<Exchange>();
    const Duration there = delay(), back = delay();
    lane_.after(there, [this, alive = exchange->alive, request = std::move(request), back,
                        done = std::move(done)] {
      if (!*alive) return;
      lane_.after(back, [alive, answer = world_.answer(request), done] {
        if (*alive) done(answer);
      });
    });
    return exchange;
  }
  std::unique_ptr<HttpExchange> stream(HttpRequest, HttpStreamHandlers handlers) override {
    auto exchange = std::make_unique<Exchange>();
    lane_.post([alive = exchange->alive, end = std::move(handlers.on_end)] {
      if (*alive && end) end(make_error(Code::Unavailable, "a dashboard does not stream"));
    });
    return exchange;
  }

 private:
  struct Exchange final : HttpExchange {
    ~Exchange() override { *alive = false; }
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };
  Duration delay() const { return std::chrono::milliseconds(2 + world_.rng_.below(20)); }

  RayDashboards& world_;
  Loop& lane_;
};

std::unique_ptr<HttpClient> RayDashboards::client(Loop& lane) {
  return std::make_unique<Client>(*this, lane);
}

}  // namespace krater::sim
