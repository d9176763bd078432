// Queues as a tree: root, queues of queues, and the leaves that jobs go into. A queue that has no
// way up to root is not part of it; the others are not harmed. In flat mode every queue is a leaf
// below root. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

class QueueTree {
 public:
  static QueueTree flat(const Session& session);
  static QueueTree hierarchy(const Session& session);

  // root() may stand for no stored queue: then it is queue_count().
  QueueId root() const { return root_; }
  // With root, stored or not.
  QueueId size() const { return static_cast<QueueId>(parents_.size()); }
  bool is_hierarchy() const { return hierarchy_; }
  bool leaf(QueueId queue) const { return children_[queue].empty(); }
  // Parents before children; those without a way up are not in it.
  const std::vector<QueueId>& top_down() const { return top_down_; }
  const std::vector<QueueId>& children(QueueId queue) const { return children_[queue]; }
  // The queue itself, its parent and so on up to root; only the queue if it has no way up.
  const std::vector<QueueId>& path(QueueId queue) const { return paths_[queue]; }
  // Why jobs of this queue cannot run; "" when they can.
  const std::string& flaw(QueueId queue) const { return flaws_[queue]; }
  // How many steps from root the deepest common ancestor of both is.
  std::size_t common_depth(QueueId a, QueueId b) const;
  // The ancestor of `queue` (or itself) right below the deepest common ancestor with `other`.
  QueueId branch_towards(QueueId queue, QueueId other) const;

 private:
  void finish(const Session& session);

  QueueId root_ = kNoQueue;
  bool hierarchy_ = false;
  std::vector<QueueId> parents_;  // kNoQueue: none that exists
  std::vector<std::vector<QueueId>> children_;
  std::vector<QueueId> top_down_;
  std::vector<std::vector<QueueId>> paths_;
  std::vector<std::string> flaws_;
};

}  // namespace krater::scheduler
