// What a job's gang still needs. A pod that has succeeded and is gone is done: it is not made
// again, and whoever counts the gang's members does not find it any more, so the gang is that much
// smaller. One that is still there counts for whoever schedules. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// Of a task in partitions: how many pods each needs that has some left, and how many partitions.
struct PartitionNeeds {
  std::int64_t size = 0, minimum = 0;
};

struct TaskNeeds {
  const VolcanoTask* task = nullptr;
  std::int64_t replicas = 0;                    // without what is done
  std::int64_t minimum = 0;                     // of these; 0 when enough is done
  std::optional<std::int64_t> min_available{};  // the same, where the task says one
  std::optional<PartitionNeeds> partitions{};
};

struct GangNeeds {
  std::int64_t min_member = 0;
  std::vector<TaskNeeds> tasks{};  // in the job's order
};

// At least one member, where the job wants any: what is left of it starts as a gang of one.
GangNeeds needs_of(const Observed& seen);

// Whether as many run or have succeeded as the job wants at least: nothing is missing.
bool is_whole(const Observed& seen);

}  // namespace krater::controllers::vcjob
