// What all jobs and all nodes add up to, kept by difference: whoever changed is counted anew, the
// rest costs nothing. Part of the Cache; on the scheduler's loop.
//
// Always holds: the sums are those of the last set() of every job and node.
#pragma once

#include <map>
#include <vector>

#include "scheduler/info.h"

namespace krater::scheduler {

// Of all known jobs in one queue.
struct QueueSums {
  std::int64_t jobs = 0;
  Resource allocated;                              // of tasks in an allocated status
  Resource request;                                // allocated and pending
  Resource inqueue;                                // admitted, not allocated yet
  Resource elastic;                                // allocated beyond the jobs' minimum
  std::map<std::int64_t, Resource> by_priority{};  // allocated, by the priority of the jobs
};

class JobLedger {
 public:
  // The job as it is now; null: it is gone.
  void set(const JobKey& key, const JobInfo* job);

  // Queues that were never named by a job are not in it; the queue itself need not exist.
  const std::map<QueueName, QueueSums>& queues() const { return queues_; }
  // Promised to admitted PodGroups and not taken yet.
  const Resource& admitted() const { return admitted_; }

 private:
  struct Entry {
    QueueName queue;
    QueueSums sums;
    Resource admitted;
  };
  void count(const Entry& entry, int sign);

  std::map<JobKey, Entry> entries_;
  std::map<QueueName, QueueSums> queues_;
  Resource admitted_;
};

class NodeLedger {
 public:
  // The node as it is now; null, or one of which only the pods are known, does not count.
  void set(NodeSlot slot, const NodeInfo* node);

  const Resource& allocatable() const { return allocatable_; }
  const Resource& used() const { return used_; }

 private:
  struct Entry {
    Resource allocatable, used;
  };
  std::vector<Entry> entries_;  // by slot
  Resource allocatable_, used_;
};

}  // namespace krater::scheduler
