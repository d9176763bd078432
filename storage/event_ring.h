// The newest events, bounded by count and bytes. Revisions are consecutive, so the place of one is
// a subtraction. Guarded by its owner (the watch hub).
#pragma once

#include <deque>

#include "storage/store.h"

namespace krater::storage {

class EventRing {
 public:
  struct Limits {
    std::size_t events = 65536;
    std::size_t bytes = 64U << 20;
  };
  explicit EventRing(Limits limits) : limits_(limits) {}

  void push(EventPtr event);  // its revision follows the last one's
  bool empty() const { return events_.empty(); }
  // The oldest revision held; only when not empty.
  Revision first() const { return events_.front()->revision(); }
  const EventPtr& at(Revision revision) const;  // must be held
  std::size_t size() const { return events_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  Limits limits_;
  std::deque<EventPtr> events_;
  std::size_t bytes_ = 0;
};

}  // namespace krater::storage
