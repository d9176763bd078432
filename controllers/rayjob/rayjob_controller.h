// Runs RayJobs: gang, cluster, submission, watching, clean-up. Lives on the control loop. What to
// do is decided by the pure machine (machine.h); the class gathers what it decides on and points
// the dashboard at what runs.
#pragma once

#include <functional>
#include <memory>

#include "base/env.h"
#include "base/http.h"
#include "controllers/rayjob/job_seen.h"

namespace krater::controllers {

struct RayJobDeps {
  const BatchScheduler& scheduler;  // these outlive the controller
  HttpClient& http;
  Loop& loop;
  const WallClock& clock;
  std::function<void(const ObjectKey&)> enqueue;  // ControllerLoop's for this controller
  ServiceResolver resolve = resolve_by_pods;
  ClusterOptions cluster{};
  bool delete_job_after_finish = false;
};

std::unique_ptr<Reconciler> make_rayjob_controller(RayJobDeps deps);

}  // namespace krater::controllers
