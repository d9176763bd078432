#include "client/work_queue.h"

#include <algorithm>

namespace krater::client {
namespace {

constexpr std::size_t kSlice = 32;  // keys in one turn of the loop

}  // namespace

WorkQueue::~WorkQueue() {
  *alive_ = false;
  for (const auto& [key, delay] : delays_) loop_.cancel(delay.timer);
}

void WorkQueue::add(const ObjectKey& key) {
  if (!queued_.insert(key).second) return;
  if (active_.contains(key)) return;  // done() moves it to ready_
  ready_.push_back(key);
  schedule_drain();
}

void WorkQueue::add_after(const ObjectKey& key, Duration delay) {
  if (delay <= Duration(0)) return add(key);
  const SteadyTime due = loop_.now() + delay;
  const auto place = delays_.find(key);
  if (place != delays_.end()) {
    if (place->second.due <= due) return;
    loop_.cancel(place->second.timer);
    delays_.erase(place);
  }
  const Loop::TimerId timer = loop_.after(delay, [this, key] {
    delays_.erase(key);
    add(key);
  });
  delays_.emplace(key, Delay{due, timer});
}

void WorkQueue::retry(const ObjectKey& key) {
  const int step = failures_[key]++;
  Duration delay = backoff_.first;
  for (int i = 0; i < step && delay < backoff_.limit; ++i) delay *= 2;
  add_after(key, std::min(delay, backoff_.limit));
}

void WorkQueue::done(const ObjectKey& key) {
  active_.erase(key);
  if (!queued_.contains(key)) return;
  ready_.push_back(key);
  schedule_drain();
}

void WorkQueue::schedule_drain() {
  if (std::exchange(drain_posted_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) drain();
  });
}

// A slice of what is ready, then the loop's other work: what the caches are told meanwhile is known
// to the keys that still wait, and keys that are added meanwhile starve nobody.
void WorkQueue::drain() {
  drain_posted_ = false;
  for (std::size_t left = std::min(ready_.size(), kSlice); left > 0; --left) {
    const ObjectKey key = std::move(ready_.front());
    ready_.pop_front();
    queued_.erase(key);
    active_.insert(key);
    work_(key);
  }
  if (!ready_.empty()) schedule_drain();
}

}  // namespace krater::client
