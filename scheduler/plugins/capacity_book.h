// What the capacity plugin knows of every queue: what is allocated and admitted in it and below it,
// and its three limits, in force after its ancestors and siblings have been heard
// (volcano.md 4.5). Kept up as tasks are placed.
#pragma once

#include <vector>

#include "scheduler/plugins/queue_accounts.h"
#include "scheduler/plugins/queue_tree.h"

namespace krater::scheduler {

struct CapacityEntry {
  // Sums over all queues below. real_capability: what the guarantees of siblings leave of the
  // parent's, plus the own one, within the capability.
  QueueAccount account{};
  Bounds deserved{};  // at least the guarantee
  Resource guarantee{};
  Share share{};
  // Kept for pods whose queue gate was lifted, until they are placed.
  Resource reserved{};
  // Root is as large as its nodes unless it was given a capability: only that is checked.
  bool bounded = true;
};

class CapacityBook {
 public:
  void open(const Session& session, QueueTree tree);
  const QueueTree& tree() const { return tree_; }
  const CapacityEntry& of(QueueId queue) const { return entries_[queue]; }
  // The entries that a job of the queue is counted in and has to fit into: its own first.
  const std::vector<QueueId>& path(QueueId queue) const { return tree_.path(queue); }

  // What a queue holds beyond what it deserves.
  Resource beyond_due(QueueId queue) const;
  // With that and what was admitted before it deserves all that it has of what it asks for; not so
  // when it deserves nothing of that in particular.
  bool within_deserved(QueueId queue, const Resource& wanted) const;

  // A task came to the queue (sign 1) or left it (-1).
  void move(QueueId queue, const Resource& request, int sign);
  void admit(QueueId queue, const Resource& wanted);
  // Room is kept for a task (sign 1), or not any more (-1).
  void reserve(QueueId queue, const Resource& request, int sign);

  // By queue, without a root that is not stored.
  std::vector<QueueFigures> figures(const Session& session) const;

 private:
  Bounds capability_of(const Session& session, QueueId queue) const;
  void open_entry(const Session& session, QueueId queue, const Resource& total);
  void refresh_share(QueueId queue);

  QueueTree tree_;
  std::vector<CapacityEntry> entries_;  // by queue, root last if it is not stored
};

// The dominant part of what is deserved; a queue that deserves nothing in particular is the last to
// be served: 1.
Share share_of(const Resource& allocated, const Bounds& deserved);

}  // namespace krater::scheduler
