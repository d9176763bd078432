// volcano_* of Volcano's scheduler for /metrics, with its names, labels and units: counted on the
// scheduler's loop, copied from there at each scrape.
#pragma once

#include <functional>
#include <optional>

#include "api/server/metrics.h"
#include "base/env.h"
#include "scheduler/volcano_metrics.h"

namespace krater::cli {

// `figures` runs on `scheduler`, which outlives the scrapes; none: no scheduler runs.
void add_volcano_scheduler_metrics(
    api::Metrics& to, Loop& scheduler,
    std::function<std::optional<scheduler::VolcanoFigures>()> figures);

}  // namespace krater::cli
