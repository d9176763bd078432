// The queues of an action in the order in which they take their turns. Serving one may move others:
// in a tree of queues those beside it, with evictions those that lost pods; so before a turn the
// order is made anew where that may have happened.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

class QueueLine {
 public:
  explicit QueueLine(const Session& session) : session_(session) {
    for (const auto& tier : session.plugins().queue_order.tiers) {
      for (const QueueOrderHook* hook : tier) placing_moves_ |= hook->moves_others();
    }
  }
  QueueLine(const QueueLine&) = delete;
  QueueLine& operator=(const QueueLine&) = delete;

  bool empty() const { return waiting_.empty(); }
  void push(QueueId queue) {
    waiting_.push_back(queue);
    std::push_heap(waiting_.begin(), waiting_.end(), After{session_});
  }
  QueueId pop() {
    if (moved()) std::make_heap(waiting_.begin(), waiting_.end(), After{session_});
    std::pop_heap(waiting_.begin(), waiting_.end(), After{session_});
    const QueueId out = waiting_.back();
    waiting_.pop_back();
    return out;
  }

 private:
  // The standard heaps have the greatest in front.
  struct After {
    const Session& session;
    bool operator()(QueueId a, QueueId b) const { return session.queue_before(b, a); }
  };
  // Since the last turn.
  bool moved() {
    const std::size_t changes = placing_moves_ ? session_.node_changes().size() : 0;
    const bool placed = std::exchange(changes_, changes) != changes;
    const std::size_t evictions = session_.evictions().size();
    return std::exchange(evictions_, evictions) != evictions || placed;
  }

  const Session& session_;
  bool placing_moves_ = false;
  std::vector<QueueId> waiting_;  // a heap, but for what has moved since the last turn
  std::size_t evictions_ = 0, changes_ = 0;
};

}  // namespace krater::scheduler
