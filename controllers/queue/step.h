// One pass over a Queue. Pure.
//
//   ""/Open ──(closed by a user, or its parent is not open)──> Closing ──(last PodGroup gone)──>
//   Closed
//      ^──────────(opened by a user, or reopened with the parent that closed it)──────────────────┘
//
// Closing is asked for by writing status.state Closed or Closing (`kubectl patch queue q
// --subresource=status`), opening by writing Open. A queue closed because of its parent carries
// volcano.sh/closed-by-parent="true", and only such a queue opens again with its parent. root is
// never closed.
#pragma once

#include <map>
#include <string>

#include "controllers/loop/plan.h"
#include "model/podgroup.h"
#include "model/queue.h"

namespace krater::controllers {

inline constexpr std::string_view kClosedByParent = "volcano.sh/closed-by-parent";

struct QueueObserved {
  QueueView queue;
  QueueView parent;  // none: empty
  std::map<PodGroupPhase, std::int64_t> groups;
};

Plan step(const QueueObserved& seen);

// Carries an order out (a Command that names the queue) and takes it away. What is no order to a
// queue, or cannot be obeyed now, is taken away with a warning.
Plan obey(const QueueObserved& seen, const Object& order);
// Taken away because there is no such queue.
Plan discard(const Object& order);

// root and default as Volcano makes them.
Json initial_queue(std::string_view name);

}  // namespace krater::controllers
