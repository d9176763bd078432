// Transactions on their way to the writer: bounded, in order, taken in groups. Any thread puts, one
// takes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "storage/store.h"

namespace krater::storage {

struct PendingCommit {
  Transaction transaction;
  CommitDone done;
};

class WriteQueue {
 public:
  struct Limits {
    std::size_t transactions;
    std::size_t bytes;
    std::size_t group_bytes;
  };
  explicit WriteQueue(Limits limits) : limits_(limits) {}

  enum class Put { Queued, Full, Closed };
  // Takes `pending` only when it answers Queued.
  Put put(PendingCommit& pending);
  // All that is queued, in order, up to group_bytes of values (at least one). Waits for something
  // to come: empty only once closed and drained.
  std::vector<PendingCommit> take();
  // The same without waiting.
  std::vector<PendingCommit> take_queued();
  // No more is accepted; what is queued can still be taken.
  void close();

 private:
  std::vector<PendingCommit> take_group();  // under the mutex

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<PendingCommit> queue_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace krater::storage
