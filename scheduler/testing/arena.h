// One session of the real scheduler on a random cluster, without a client and without time: to ask
// it what it thinks, and to see what an action decides.
#pragma once

#include "scheduler/cache.h"
#include "scheduler/session.h"
#include "scheduler/testing/random_world.h"

namespace krater::scheduler {

class Arena {
 public:
  Arena(const naive::World& world, const naive::State& state, std::string_view actions);
  // All actions, in their order.
  void run();

  Session& session() { return *session_; }
  JobId job(const std::string& name) const;
  QueueId queue(const std::string& name) const;
  // Whom allocate gave nodes.
  naive::Placement bound() const;
  // What preempt, reclaim and their likes for gangs did, in order.
  std::vector<naive::Claim> claims() const;

 private:
  void add(const Json& things);
  void store(const Kind& kind, Json object, void (Cache::*set)(const ObjectPtr&));
  std::string pod(TaskRef task) const { return session_->task(task).spec->name(); }
  std::string node(TaskRef task) const { return session_->node(session_->task(task).node).name; }

  Cache cache_;
  Config config_;
  std::optional<Session> session_;
  std::int64_t revision_ = 0;
};

}  // namespace krater::scheduler
