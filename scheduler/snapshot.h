// The cluster at one moment: shared pointers to structs that nobody changes any more. Making one
// copies pointers, not pods; a session clones what it changes.
#pragma once

#include <functional>
#include <vector>

#include "scheduler/fairshare_book.h"
#include "scheduler/ledger.h"
#include "scheduler/spread_defaults.h"
#include "scheduler/surroundings.h"
#include "scheduler/volume_book.h"

namespace krater::scheduler {

// Open: the jobs of which something waits, and those that changed since the last report; all that a
// cycle can do something for. The others are in the sums, admitted jobs without pods among them.
enum class Scope { Open, All };

// A pod on a node, whoever scheduled it.
struct PlacedPod {
  TaskSpecPtr task;
  NodeSlot node = kNoNode;
  bool leaving = false;
};

struct Snapshot {
  std::vector<NodePtr> nodes{};       // by slot; null: no such node, or only its pods are known
  std::vector<NodeSlot> order{};      // slots of the nodes there are, by name
  std::vector<std::uint32_t> rank{};  // by slot: place in `order`
  std::vector<JobPtr> jobs{};         // by key; which ones is up to the Scope
  // The others, by key: for a session that looks for somebody to evict. Good as long as the Cache
  // is not changed.
  std::function<std::vector<JobPtr>()> rest{};
  // For a session that has to know who is beside whom: likewise.
  std::function<std::vector<PlacedPod>()> placed{};
  // The queue of any known job: likewise.
  std::function<QueueName(const JobKey&)> queue_of{};
  // Who has used how much: likewise. Null: nobody counts.
  const FairshareBook* fairshare = nullptr;
  // Who was made to leave for a job and is still there: likewise. Empty: nobody keeps count.
  std::function<std::vector<TaskSpecPtr>(const JobKey&)> leaving_for{};
  std::vector<PodTermsPtr> terms{};  // all that pods say of other pods
  std::shared_ptr<const NamespaceLabels> namespaces{};
  std::shared_ptr<const VolumeBook> volumes{};
  std::shared_ptr<const SpreadDefaults> spread_defaults{};
  std::shared_ptr<const Surroundings> surroundings = std::make_shared<const Surroundings>();
  std::vector<QueuePtr> queues{};  // by name
  std::vector<QueueSums> sums{};   // by queue: what all jobs in it add up to
  Resource total{};                // allocatable of all nodes
  Resource used{};                 // on all nodes
  Resource admitted{};             // promised to admitted jobs of all queues, not taken yet
  ResourceNames names{};
  std::uint64_t help = 0;  // Cache::help() then
};

}  // namespace krater::scheduler
