// volcano_* of Volcano's controllers for /metrics, with its names, labels and units: counted on the
// control loop, copied from there at each scrape.
#pragma once

#include <functional>

#include "api/server/metrics.h"
#include "base/env.h"
#include "controllers/volcano_counts/volcano_counts.h"

namespace krater::cli {

// `figures` runs on `control`, which outlives the scrapes.
void add_volcano_controller_metrics(api::Metrics& to, Loop& control,
                                    std::function<controllers::VolcanoControllerFigures()> figures);

}  // namespace krater::cli
