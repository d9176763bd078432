// What the scheduler counts of itself, for those who show the numbers elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/resource.h"

namespace krater::scheduler {

struct Metrics {
  std::uint64_t cycles = 0;
  Duration last_cycle{}, longest_cycle{}, all_cycles{};
  std::uint64_t binds = 0;              // pods
  std::uint64_t bind_failures = 0;      // transactions
  std::uint64_t evictions = 0;          // pods
  std::uint64_t eviction_failures = 0;  // transactions
  std::uint64_t config_errors = 0;
  std::size_t waiting_jobs = 0;  // after the last cycle
  std::size_t parked_jobs = 0;   // of those: not to be tried before a change
  // Of plugin fairshare, by queue and user; null where it is not asked for.
  struct Usage {
    std::string queue, user, resource;
    Wide unit_seconds = 0;
  };
  std::shared_ptr<const std::vector<Usage>> usage{};
};

}  // namespace krater::scheduler
