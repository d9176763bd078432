#include "storage/write_queue.h"

#include <utility>

namespace krater::storage {
namespace {

std::size_t weight(const PendingCommit& pending) {
  std::size_t bytes = 0;
  for (const Op& op : pending.transaction.ops) bytes += op.key.size() + op.value.size();
  return bytes;
}

}  // namespace

WriteQueue::Put WriteQueue::put(PendingCommit& pending) {
  const std::size_t bytes = weight(pending);
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Put::Closed;
    // One transaction always fits into an empty queue, however large.
    if (!queue_.empty() &&
        (queue_.size() >= limits_.transactions || bytes_ + bytes > limits_.bytes)) {
      return Put::Full;
    }
    bytes_ += bytes;
    queue_.push_back(std::move(pending));
  }
  filled_.notify_one();
  return Put::Queued;
}

std::vector<PendingCommit> WriteQueue::take() {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [this] { return closed_ || !queue_.empty(); });
  return take_group();
}

std::vector<PendingCommit> WriteQueue::take_queued() {
  const std::lock_guard lock(mutex_);
  return take_group();
}

std::vector<PendingCommit> WriteQueue::take_group() {
  std::vector<PendingCommit> group;
  std::size_t bytes = 0;
  while (!queue_.empty()) {
    const std::size_t next = weight(queue_.front());
    if (!group.empty() && bytes + next > limits_.group_bytes) break;
    bytes += next;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  bytes_ -= bytes;
  return group;
}

void WriteQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_all();
}

}  // namespace krater::storage
