// One simulated node and what becomes of it: while it is up, an agent of its own. Killing it is
// pulling the plug, and it boots empty; only the agent may also start anew, and finds what ran.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/agent.h"
#include "agent/simulated/simulated_runtime.h"
#include "sim/network.h"
#include "sim/sim_loop.h"

namespace krater::sim {

class Node {
 public:
  // What the program of a running container does, beside running: told the pod, it says whether it
  // has got it done, and is called again every second otherwise.
  using Program = std::function<bool(const std::string& name_space, const std::string& pod)>;
  // `number`: 0 to 255. Addresses of its pods tell the node and which of its lives they belong to.
  Node(SimLoop& loop, Network& network, Rng& rng, unsigned number, agent::NodeFacts facts,
       Program program)
      : loop_(loop),
        network_(network),
        rng_(rng),
        number_(number),
        facts_(std::move(facts)),
        program_(std::move(program)),
        lane_(loop, facts_.name) {}

  enum class Start { Empty, WithItsPods };
  void boot();
  // `next`: how it will boot.
  void kill(Start next = Start::Empty);
  bool up() const { return life_ != nullptr; }
  const std::string& name() const { return facts_.name; }
  // Whether pods with this address run here, now.
  bool answers(const std::string& ip) const;

 private:
  class Runtime;
  struct Life;
  SimLoop& loop_;
  Network& network_;
  Rng& rng_;
  const unsigned number_;
  const agent::NodeFacts facts_;
  const Program program_;
  Lane lane_;  // outlives lives: answers to what a life had asked still arrive here
  unsigned lives_ = 0;
  Start next_ = Start::Empty;
  std::shared_ptr<Life> life_;
};

}  // namespace krater::sim
