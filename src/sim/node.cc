#include "sim/node.h"

#include "base/check.h"
#include "base/strings.h"

namespace krater::sim {
namespace {

// Of an address 10.(64+a).b.c the number a·2^16 + b·2^8 + c; every life of a node has 256 of them,
// every node 64 lives.
constexpr std::uint32_t kPodsPerLife = 256, kLives = 64;

std::uint32_t first_address(unsigned node, unsigned life) {
  return (node * kLives + life % kLives) * kPodsPerLife;
}

std::optional<std::uint32_t> address_number(const std::string& ip) {
  const std::vector<std::string_view> parts = split(ip, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t out = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    const auto part = parse_int(parts[i]);
    if (!part) return std::nullopt;
    out = out * 256 + static_cast<std::uint32_t>(i == 1 ? *part - 64 : *part);
  }
  return out;
}

}  // namespace

struct Node::Life {
  Life(Node& node, std::uint32_t first)
      : client(node.network_, node.lane_, "system:node:" + node.facts_.name),
        runtime(node.lane_, node.loop_.wall(), first),
        agent(agent::AgentDeps{client, node.lane_, node.loop_.wall(), node.rng_, runtime},
              {node.facts_}, agent::NodeInfo()) {
    agent.start();
  }
  RemoteClient client;
  agent::SimulatedRuntime runtime;
  agent::Agent agent;
};

void Node::boot() {
  CHECK(!up());
  life_ = std::make_shared<Life>(*this, first_address(number_, ++lives_));
}

void Node::kill() {
  life_.reset();
  lane_.clear();
}

bool Node::answers(const std::string& ip) const {
  const auto number = address_number(ip);
  return up() && number &&
         (*number - 1) / kPodsPerLife == first_address(number_, lives_) / kPodsPerLife;
}

}  // namespace krater::sim
