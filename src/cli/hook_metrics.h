// What webhooks cost and say, on /metrics under kube-apiserver's names.
#pragma once

#include "api/server/metrics.h"
#include "api/webhook/hook_stats.h"

namespace krater::cli {

// `stats` outlives `to`.
void add_hook_metrics(api::Metrics& to, const api::HookStats& stats);

}  // namespace krater::cli
