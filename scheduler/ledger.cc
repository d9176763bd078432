#include "scheduler/ledger.h"

namespace krater::scheduler {
namespace {

void add(Resource& to, const Resource& amount, int sign) {
  sign > 0 ? to += amount : to -= amount;
}

}  // namespace

void JobLedger::count(const Entry& entry, int sign) {
  QueueSums& sums = queues_[entry.queue];
  sums.jobs += sign;
  add(sums.allocated, entry.sums.allocated, sign);
  add(sums.request, entry.sums.request, sign);
  add(sums.inqueue, entry.sums.inqueue, sign);
  add(sums.elastic, entry.sums.elastic, sign);
  for (const auto& [priority, allocated] : entry.sums.by_priority) {
    Resource& sum = sums.by_priority[priority];
    add(sum, allocated, sign);
    if (sum.is_zero()) sums.by_priority.erase(priority);
  }
  add(admitted_, entry.admitted, sign);
  if (sums.jobs == 0) queues_.erase(entry.queue);
}

void JobLedger::set(const JobKey& key, const JobInfo* job) {
  if (const auto before = entries_.find(key); before != entries_.end()) {
    count(before->second, -1);
    entries_.erase(before);
  }
  if (job == nullptr || !job->known) return;
  Entry entry{job->queue,
              {1,
               job->allocated,
               job->allocated + job->pending,
               job->admitted_in_queue(),
               job->elastic(),
               {{job->priority, job->allocated}}},
              job->admitted_in_cluster()};
  count(entry, 1);
  entries_.emplace(key, std::move(entry));
}

void NodeLedger::set(NodeSlot slot, const NodeInfo* node) {
  if (slot >= entries_.size()) entries_.resize(slot + 1);
  Entry& entry = entries_[slot];
  allocatable_ -= entry.allocatable;
  used_ -= entry.used;
  const bool counts = node != nullptr && node->spec != nullptr;
  entry = counts ? Entry{node->spec->allocatable, node->used} : Entry{};
  allocatable_ += entry.allocatable;
  used_ += entry.used;
}

}  // namespace krater::scheduler
