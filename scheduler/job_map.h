// Tables by job, for those who look up often and never ask in which order the jobs come.
#pragma once

#include <functional>
#include <unordered_map>

#include "scheduler/info.h"

namespace krater::scheduler {

struct JobKeyHash {
  std::size_t operator()(const JobKey& key) const noexcept {
    const std::hash<std::string> hash;
    return hash(key.name) * 31 + hash(key.name_space);
  }
};

template <typename T>
using JobMap = std::unordered_map<JobKey, T, JobKeyHash>;

}  // namespace krater::scheduler
