// Asks Ray dashboards how jobs go. Lives on the control loop; never blocks; every call is bounded
// in time (2 s) and size (1 MiB). Keeps the last answer of each job it follows and wakes the job's
// key when there is news.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/http.h"
#include "controllers/rayjob/job_seen.h"

namespace krater::controllers {

class Dashboard {
 public:
  struct Target {
    std::optional<std::string> address;  // "ip:port"; without one every question ends in a Problem
    std::string job_id;
    Duration every{};
    friend bool operator==(const Target&, const Target&) = default;
  };
  using Wake = std::function<void(const ObjectKey&)>;

  Dashboard(HttpClient& http, Loop& loop, const WallClock& clock, Wake wake)
      : http_(http), loop_(loop), clock_(clock), wake_(std::move(wake)) {}
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // Asks now and then every `every` after an answer. Another job or address forgets the answer and
  // asks at once; a shorter `every` asks again within it.
  void follow(const ObjectKey& key, Target target);
  void unfollow(const ObjectKey& key);
  std::optional<DashboardAnswer> last(const ObjectKey& key) const;

  // POSTs /api/jobs/<id>/stop, at most three times, then is Over whatever came of it.
  void stop_job(const ObjectKey& key, const std::string& address, const std::string& job_id);
  StopCall stop_state(const ObjectKey& key) const;
  // The key's object is gone.
  void forget(const ObjectKey& key);
  std::size_t followed() const { return polls_.size(); }

 private:
  struct Poll {
    Target target;
    std::unique_ptr<HttpExchange> exchange;
    Loop::TimerId timer = 0;
    SteadyTime due{};
    bool asking = false;
    std::optional<DashboardAnswer> last;
  };
  struct Stop {
    std::string address, job_id;
    std::unique_ptr<HttpExchange> exchange;
    Loop::TimerId timer = 0;
    int tries = 0;
    bool over = false;
  };

  void ask(const ObjectKey& key);
  void ask_after(const ObjectKey& key, Duration delay);
  void answered(const ObjectKey& key, DashboardAnswer answer);
  void try_stop(const ObjectKey& key);
  void stop_answered(const ObjectKey& key, const Result<HttpResponse>& response);

  HttpClient& http_;
  Loop& loop_;
  const WallClock& clock_;
  Wake wake_;
  std::map<ObjectKey, Poll> polls_;
  std::map<ObjectKey, Stop> stops_;
};

// Reads GET /api/jobs/<id>. `asked`: when the question was sent.
DashboardAnswer read_job_answer(const Result<HttpResponse>& response, WallTime asked);

}  // namespace krater::controllers
