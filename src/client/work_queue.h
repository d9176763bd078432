// Keys waiting for a reconcile: each at most once, never two passes of one key at a time, delayed
// and backed off per key. Lives on one loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/env.h"
#include "model/object_key_hash.h"

namespace krater::client {

class WorkQueue {
 public:
  struct Backoff {
    Duration first = std::chrono::milliseconds(5);
    Duration limit = std::chrono::seconds(60);
  };

  // `work` is told a key to process; it must call done(key) once when finished (also later).
  WorkQueue(Loop& loop, Backoff backoff, std::function<void(const ObjectKey&)> work)
      : loop_(loop), backoff_(backoff), work_(std::move(work)) {}
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Queues the key now; when it is being processed it runs once more afterwards.
  void add(const ObjectKey& key);
  // The earlier of this and any pending delay wins.
  void add_after(const ObjectKey& key, Duration delay);
  // After the key's next back-off step.
  void retry(const ObjectKey& key);
  // Success: the key's back-off starts anew.
  void forget(const ObjectKey& key) { failures_.erase(key); }
  void done(const ObjectKey& key);
  std::size_t depth() const { return ready_.size(); }
  // Keys queued or in process (delays not counted): 0 means quiet.
  std::size_t pending() const { return queued_.size() + active_.size(); }

 private:
  struct Delay {
    SteadyTime due;
    Loop::TimerId timer;
  };
  using Keys = std::unordered_set<ObjectKey, ObjectKeyHash>;
  void schedule_drain();
  void drain();

  Loop& loop_;
  Backoff backoff_;
  std::function<void(const ObjectKey&)> work_;
  std::deque<ObjectKey> ready_;
  Keys queued_;  // in ready_, or to be queued again after done()
  Keys active_;
  std::unordered_map<ObjectKey, Delay, ObjectKeyHash> delays_;
  std::unordered_map<ObjectKey, int, ObjectKeyHash> failures_;
  bool drain_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::client
