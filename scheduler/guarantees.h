// What queues are guaranteed and do not use stays free for them, whoever else borrows; so nobody
// gains by taking it from them either. A queue in a tree shares what its ancestors are guaranteed.
// Follows the session's placements as they are made and undone.
#pragma once

#include <vector>

#include "scheduler/behaviors.h"
#include "scheduler/hooks.h"
#include "scheduler/snapshot.h"

namespace krater::scheduler {

class Guarantees {
 public:
  // `world` outlives this. `counts`: whether there is a plugin for which guarantees mean anything.
  Guarantees(const Snapshot& world, const Behaviors& behaviors, bool counts);

  // The guarantee, as far as the queue may hold that and the cluster has it.
  const Resource& kept(QueueId queue) const { return kept_[queue]; }

  // The queue takes so much: what others are guaranteed and do not hold is still free.
  bool leave_room(QueueId queue, const Resource& request, Refusal& why) const;

  // A task came to the queue (sign 1) or left it (-1).
  void move(QueueId queue, const Resource& request, int sign);

 private:
  struct Entry {
    Resource held{};               // in it and below
    std::vector<QueueId> path{};   // itself first
    std::vector<QueueId> below{};  // children under whom something is guaranteed
  };

  void find_paths();
  std::int64_t lacking(QueueId queue, Dim dim) const;
  std::int64_t lacking_elsewhere(QueueId queue, Dim dim) const;

  const Snapshot& world_;
  std::vector<Resource> kept_;
  std::vector<Entry> entries_;
  std::vector<QueueId> roots_;  // queues without a parent, where something is guaranteed
  // Held by no queue. As in the limits of queues, what is used outside of them is not looked at:
  // the queues share the nodes, and their guarantees are among themselves.
  Resource free_;
  bool any_ = false;
};

}  // namespace krater::scheduler
