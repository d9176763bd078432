// Keeps one node known to the API: registers it, renews its lease every ten seconds, writes its
// status every five minutes and whenever the object says something else than the node. On the
// agent's loop.
#pragma once

#include <functional>
#include <memory>

#include "agent/context.h"
#include "agent/node/facts.h"
#include "client/object_client.h"

namespace krater::agent {

class Registrar {
 public:
  Registrar(client::ObjectClient& client, Loop& loop, const WallClock& clock,
            const NodeFacts& facts, NodeInfo info)
      : client_(client), loop_(loop), clock_(clock), facts_(facts), info_(std::move(info)) {}
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  // Registers now; leases begin `lease_offset` later (many nodes in one process spread theirs).
  void start(Duration lease_offset);
  // From the agent's watch of nodes.
  void seen(ObjectPtr node);
  void removed();
  const ObjectPtr& node() const { return node_; }

 private:
  void create();
  void fetch();
  void label();
  void write_status();
  void renew();
  void create_lease();
  void again(Duration delay, void (Registrar::*step)());
  template <typename F>
  auto guarded(F body) {
    return [alive = std::weak_ptr<bool>(alive_), body = std::move(body)](auto&&... args) {
      if (!alive.expired()) body(std::forward<decltype(args)>(args)...);
    };
  }

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  const NodeFacts& facts_;
  NodeInfo info_;
  ObjectPtr node_;
  bool status_in_flight_ = false, registering_ = false;
  Loop::TimerId lease_timer_ = 0, status_timer_ = 0, retry_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
