#include "sim/node.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "base/strings.h"

namespace krater::sim {
namespace {

// Of an address 10.(64+a).b.c the number a·2^16 + b·2^8 + c; every life of a node has 256 of them,
// every node 64 lives.
constexpr std::uint32_t kPodsPerLife = 256, kLives = 64;
constexpr Duration kProgramTriesAgain = 1s;

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

// Simulated pods would go on from what the API tells of them; after a power cut nothing does.
class Node::Runtime final : public agent::SimulatedRuntime {
 public:
  Runtime(Loop& loop, const WallClock& clock, std::uint32_t first_address, Start how,
          const Program& program)
      : SimulatedRuntime(loop, clock, first_address), loop_(loop), how_(how), program_(program) {}
  bool recall(const agent::SandboxSpec& spec, const std::string& ip,
              const std::vector<agent::Recalled>& running) override {
    if (how_ != Start::WithItsPods) return false;
    pods_[spec.uid] = {spec.name_space, spec.name};
    for (const agent::Recalled& one : running) run_program(spec.uid, one.run.name);
    return SimulatedRuntime::recall(spec, ip, running);
  }
  void create_sandbox(agent::SandboxSpec spec, Done<agent::Sandbox> done) override {
    pods_[spec.uid] = {spec.name_space, spec.name};
    SimulatedRuntime::create_sandbox(std::move(spec), std::move(done));
  }
  void start_container(const std::string& uid, agent::ContainerRun run,
                       Done<agent::Started> done) override {
    const std::string container = run.name;
    SimulatedRuntime::start_container(
        uid, std::move(run),
        [this, uid, container, done = std::move(done)](Result<agent::Started> started) {
          if (started) run_program(uid, container);
          done(std::move(started));
        });
  }
  void remove_sandbox(const std::string& uid, Done<bool> done) override {
    pods_.erase(uid);
    SimulatedRuntime::remove_sandbox(uid, std::move(done));
  }

 private:
  void run_program(const std::string& uid, const std::string& container) {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end() || program_(pod->second.first, pod->second.second)) return;
    loop_.after(kProgramTriesAgain, [this, uid, container] { run_program(uid, container); });
  }

  Loop& loop_;
  const Start how_;
  const Program& program_;
  std::map<std::string, std::pair<std::string, std::string>> pods_;  // namespace and name, by uid
};

struct Node::Life {
  Life(Node& node, std::uint32_t first, Start how)
      : client(node.network_, node.lane_, "system:node:" + node.facts_.name),
        runtime(node.lane_, node.loop_.wall(), first, how, node.program_),
        agent(agent::AgentDeps{client, node.lane_, node.loop_.wall(), node.rng_, runtime},
              {node.facts_}, agent::NodeInfo()) {
    agent.start();
  }
  RemoteClient client;
  Runtime runtime;
  agent::Agent agent;
};

void Node::boot() {
  CHECK(!up());
  if (next_ == Start::Empty) ++lives_;
  life_ = std::make_shared<Life>(*this, first_address(number_, lives_), next_);
}

void Node::kill(Start next) {
  next_ = next;
  life_.reset();
  lane_.clear();
}

bool Node::answers(const std::string& ip) const {
  const auto number = address_number(ip);
  return up() && number &&
         (*number - 1) / kPodsPerLife == first_address(number_, lives_) / kPodsPerLife;
}

}  // namespace krater::sim
