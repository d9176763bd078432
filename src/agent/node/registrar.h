// Keeps one node known to the API: registers it, renews its lease every ten seconds, looks at what
// it has left and how busy it is as often, and writes its status every five minutes and whenever
// the object says something else than the node. On the agent's loop.
#pragma once

#include <functional>
#include <memory>

#include "agent/context.h"
#include "agent/node/facts.h"
#include "agent/node/machine_figures.h"
#include "client/object_client.h"

namespace krater::agent {

// What a node is looked after with; `source` null: it is never short of anything.
struct NodeWatch {
  FigureSource* source = nullptr;
  std::vector<Threshold> thresholds{};
};

class Registrar {
 public:
  Registrar(client::ObjectClient& client, Loop& loop, const WallClock& clock,
            client::EventRecorder& events, const NodeFacts& facts, NodeInfo info, NodeWatch watch)
      : client_(client),
        loop_(loop),
        clock_(clock),
        events_(events),
        facts_(facts),
        info_(std::move(info)),
        figures_(watch.source),
        machine_(std::move(watch.thresholds)) {}
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
  void look();
  void tell_usage();
  void tell(bool before, bool now, std::string_view begins, std::string_view ends);
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
  client::EventRecorder& events_;
  const NodeFacts& facts_;
  NodeInfo info_;
  FigureSource* figures_;
  PressureMachine machine_;
  Pressures pressures_;
  UsageMeter usage_;
  ObjectPtr node_;
  bool status_in_flight_ = false, registering_ = false;
  Loop::TimerId lease_timer_ = 0, status_timer_ = 0, retry_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
