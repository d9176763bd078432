// Numbers out of a session's books, for those who show them.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/hooks.h"

namespace krater::scheduler {

// What a plugin knows of a queue. What no plugin has an opinion on is not set.
struct QueueFigures {
  Resource allocated{}, request{}, inqueue{}, deserved{};
  std::optional<Bounds> capability{};
  std::optional<Resource> real_capability{};
  std::optional<std::int64_t> weight{};
  Share share{};
  bool overused = false;
};

// A gang that was looked at, and how many of its minimum have no place.
struct GangFigures {
  JobId job = 0;
  bool stands = false;
  std::int64_t missing = 0;
};

struct SessionFigures {
  std::vector<QueueFigures> queues{};  // by QueueId; empty: no plugin keeps books
  std::vector<GangFigures> gangs{};
  bool counts_gangs = false, counts_shares = false;  // whether a plugin does
};

}  // namespace krater::scheduler
