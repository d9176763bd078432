// Writes status.allocated of queues: what the tasks placed in a queue, and in the queues below it,
// request. Off the cycle, only when it changed. Lives on the scheduler's loop.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "base/env.h"
#include "client/object_client.h"
#include "scheduler/cache.h"

namespace krater::scheduler {

// What every known queue holds, its descendants' share included. cpu and memory are always listed.
// Pure.
std::map<QueueName, ResourceList> queue_allocations(Cache& cache);

class QueueWriter {
 public:
  QueueWriter(client::ObjectClient& client, Cache& cache, Loop& loop)
      : client_(client), cache_(cache), loop_(loop) {}
  ~QueueWriter() { *alive_ = false; }
  QueueWriter(const QueueWriter&) = delete;
  QueueWriter& operator=(const QueueWriter&) = delete;

  // Writes every queue whose stored figure is not the right one and that is not being written; what
  // fails is tried again, whether or not anything else happens.
  void flush();

 private:
  struct Told {
    ResourceList allocated;
    Revision revision;
  };
  void write(const QueueName& queue, const ResourceList& allocated, const ResourceList& before);

  client::ObjectClient& client_;
  Cache& cache_;
  Loop& loop_;
  std::map<QueueName, Told> told_;  // written, not seen on the watch yet
  std::set<QueueName> writing_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
