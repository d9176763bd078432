// Where published events meet their watchers. Watchers pull: from the ring through their topic, or
// from the log on disk when they are further behind. Any thread; one mutex, held for pointer copies
// only, never across I/O. What must hold: a watcher gets every event of its range after its start
// exactly once, in order.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "storage/event_ring.h"
#include "storage/history.h"
#include "storage/store.h"
#include "storage/topic.h"

namespace krater::storage {

class WatchHub {
 public:
  // Events up to `head` are on disk only.
  WatchHub(Revision head, EventRing::Limits limits, std::shared_ptr<const History> history);
  ~WatchHub();

  // Writer's thread. Notifies whoever waited for one of these.
  void publish(const std::vector<EventPtr>& events);
  // The caller has checked `after` against the present and the compaction.
  std::unique_ptr<Watch> watch(WatchOptions options);

 private:
  struct Core;  // shared with the watches, which may outlive a call into the hub
  std::shared_ptr<Core> core_;
};

}  // namespace krater::storage
