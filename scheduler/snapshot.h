// The cluster at one moment: shared pointers to structs that nobody changes any more. Making one
// copies pointers, not pods; a session clones what it changes.
#pragma once

#include <vector>

#include "scheduler/info.h"

namespace krater::scheduler {

struct Snapshot {
  std::vector<NodePtr> nodes{};       // by slot; null: no such node, or only its pods are known
  std::vector<NodeSlot> order{};      // slots of the nodes there are, by name
  std::vector<std::uint32_t> rank{};  // by slot: place in `order`
  std::vector<JobPtr> jobs{};         // by key
  std::vector<QueuePtr> queues{};     // by name
  Resource total{};                   // allocatable of all nodes
  ResourceNames names{};
  std::uint64_t help = 0;  // Cache::help() then
};

}  // namespace krater::scheduler
