// All Ray dashboards of a simulated world. A job is known from when it is first asked about at an
// address (what its submitter did is not looked at); it is PENDING for a second, RUNNING for its
// time, and then SUCCEEDED or, by chance, FAILED. A head that has gone takes its jobs along.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/env.h"
#include "base/http.h"

namespace krater::sim {

class RayDashboards {
 public:
  struct Rules {
    Duration run_time = std::chrono::seconds(10);
    unsigned fail_in_thousand = 0;
    std::function<bool(const std::string& ip)> reachable;
  };
  RayDashboards(const WallClock& clock, Rng& rng, Rules rules)
      : clock_(clock), rng_(rng), rules_(std::move(rules)) {}

  Result<HttpResponse> answer(const HttpRequest& request);
  // A client for one process; answers come on `lane`, some milliseconds later.
  std::unique_ptr<HttpClient> client(Loop& lane);

 private:
  struct Job {
    WallTime start;
    bool fails = false, stopped = false;
  };
  class Client;
  std::string status_of(const Job& job) const;

  const WallClock& clock_;
  Rng& rng_;
  Rules rules_;
  std::map<std::pair<std::string, std::string>, Job> jobs_;  // by address and id
};

}  // namespace krater::sim
