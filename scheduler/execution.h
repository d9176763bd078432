// What those work with who carry out what a cycle decided. All of it lives on the scheduler's loop
// and outlives them.
#pragma once

#include <functional>

#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"
#include "scheduler/cache.h"
#include "scheduler/decisions.h"
#include "scheduler/metrics.h"
#include "scheduler/parking.h"
#include "scheduler/volcano_metrics.h"

namespace krater::scheduler {

struct Execution {
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  Cache& cache;
  client::EventRecorder& events;
  Backoffs& backoffs;
  Metrics& metrics;
  VolcanoMetrics& volcano;
  std::function<void(const Decision&)> decide;
  // A write was answered, or its time to be tried again came.
  std::function<void()> answered;
};

// The job is left alone for a while, longer with each failure in a row.
void retry_later(const Execution& world, const JobKey& job);

}  // namespace krater::scheduler
