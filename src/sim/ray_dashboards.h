// All Ray dashboards of a simulated world, and the programs that were submitted to them. A program
// is PENDING for a second, RUNNING for its time, and then SUCCEEDED or, by chance, FAILED. A head
// that has gone takes its programs along.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

  // `ray job submit --submission-id <id>` to the head at `ip`. False: nobody answers there. An id
  // that this head knows already does not run again.
  bool submit(const std::string& ip, const std::string& id);
  Result<HttpResponse> answer(const HttpRequest& request);
  // A client for one process; answers come on `lane`, some milliseconds later.
  std::unique_ptr<HttpClient> client(Loop& lane);
  // Everything that has ever been run.
  struct Program {
    std::string ip, id;
    WallTime began;
    std::string status;  // Ray's word, as it would be if its head lived on
  };
  std::vector<Program> programs() const;

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
