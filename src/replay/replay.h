// A simulation: the real scheduler, on a clock that jumps, over a cluster in memory whose nodes and
// users are played. One thread; the same workload, configuration and seed give the same outcome.
//
// What is played: a pod that is bound runs a moment later and ends after its time; an evicted pod
// takes a moment to leave and is made anew, from the beginning; pods of a job that waits for
// admission are made once its PodGroup is Inqueue. Nothing else has a say (quotas and defaults of
// the API do not).
#pragma once

#include <cstdint>
#include <string>

#include "replay/tally.h"
#include "replay/workload.h"

namespace krater::replay {

struct ReplayOptions {
  std::string
      config{};  // the scheduler's YAML; "": the ConfigMap of the workload, else the default
  std::uint64_t seed = 1;
  Duration until = std::chrono::hours(24 * 30);  // at the latest
  // Nothing has happened for so long, and nobody is to come: those who wait will wait for ever.
  Duration patience = std::chrono::minutes(10);
};

struct Outcome {
  Tally tally{};
  Duration lasted{};
  std::vector<std::string> decisions{};  // the scheduler's, a line each
};

// Code::Invalid for a configuration that is no good.
Result<Outcome> replay(const Workload& workload, const ReplayOptions& options);

}  // namespace krater::replay
