// workqueue_* of the controllers for /metrics: counted on the control loop, copied from there at
// each scrape.
#pragma once

#include <functional>
#include <vector>

#include "api/server/metrics.h"
#include "base/env.h"
#include "controllers/loop/controller_loop.h"

namespace krater::cli {

// `counters` runs on `control`, which outlives the scrapes.
void add_queue_metrics(api::Metrics& to, Loop& control,
                       std::function<std::vector<controllers::ControllerCounters>()> counters);

}  // namespace krater::cli
