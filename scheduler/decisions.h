// What the scheduler decides, a line each, for people who ask what it did and why: the log of the
// mirror pod volcano-scheduler. Made on the scheduler's loop.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace krater::scheduler {

struct Decision {
  std::string_view action;   // "enqueue", "allocate", "reclaim", ...; "config"
  std::string_view verdict;  // "admitted", "refused", "waits", "bound", "evicted", "completed", ...
  std::string queue{}, job{};
  std::string pods{};    // how many; of an eviction which one
  std::string target{};  // for whom (job), or where
  std::string reason{};
  std::string asks{};  // what the pods bound ask for, all together: "cpu=4,memory=8Gi"
};
// "action=reclaim verdict=evicted queue=research job=default/a1 pods=a1-2 for=default/p1
// reason=\"...\"". What is empty is left out.
std::string to_line(const Decision& decision);

using DecisionSink = std::function<void(WallTime now, std::string line)>;

}  // namespace krater::scheduler
