// rescheduling: moves pods from busy nodes to idle ones, by shuffle, from time to time
// (volcano.md 4.12). Strategy lowNodeUtilization: from nodes above targetThresholds in anything, as
// long as nodes below thresholds in everything have room. How busy a node is it says itself.
#include <algorithm>

#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr Duration kFresh = std::chrono::minutes(5);

// Percent; cpu and memory.
struct Thresholds {
  std::int64_t cpu = 100, memory = 100;
};
struct ReschedulingArgs {
  Duration interval = std::chrono::minutes(5);
  Thresholds low{}, target{};
};
struct ReschedulingMemory {
  std::optional<WallTime> ran{};
};

struct Node {
  NodeSlot slot = kNoNode;
  std::int64_t cpu = 0, memory = 0;  // per mille in use
  Resource all{};
};

class Rescheduling final : public Plugin, public VictimTasksHook {
 public:
  Rescheduling(const ReschedulingArgs& args, ReschedulingMemory& memory)
      : args_(args), memory_(memory) {}

  bool due(const Session& session) const override {
    return !memory_.ran || *memory_.ran + args_.interval <= session.now();
  }

  TaskRefs victim_tasks(const Session& session) override {
    memory_.ran = session.now();
    std::vector<Node> low, high;
    for (const NodeSlot slot : session.node_order()) {
      const NodeSpec& spec = *session.node(slot).spec;
      // Who says nothing is neither idle nor busy.
      if (!spec.usage || session.now() - spec.usage->at > kFresh) continue;
      const Node node{slot, spec.usage->cpu, spec.usage->memory, spec.allocatable};
      if (!spec.unschedulable && node.cpu < args_.low.cpu * 10 &&
          node.memory < args_.low.memory * 10) {
        low.push_back(node);
      } else if (node.cpu > args_.target.cpu * 10 || node.memory > args_.target.memory * 10) {
        high.push_back(node);
      }
    }
    if (low.empty() || high.empty()) return {};
    Resource room;
    for (const Node& node : low) {
      for (const auto& [dim, used, target] :
           {std::tuple(kCpu, node.cpu, args_.target.cpu),
            std::tuple(kMemory, node.memory, args_.target.memory)}) {
        room.set(dim, room.at(dim) + scale(node.all.at(dim), target * 10 - used, 1000));
      }
    }
    std::stable_sort(high.begin(), high.end(), [](const Node& a, const Node& b) {
      return a.cpu + a.memory > b.cpu + b.memory;
    });
    TaskRefs out;
    for (Node& node : high) relieve(session, node, room, out);
    return out;
  }

 private:
  // The least important pods first.
  void relieve(const Session& session, Node& node, Resource& room, TaskRefs& out) const {
    TaskRefs pods;
    for (const TaskRef& one : session.residents(node.slot)) {
      if (session.task(one).status == TaskStatus::Running && session.task(one).spec->preemptable)
        pods.push_back(one);
    }
    std::stable_sort(pods.begin(), pods.end(), [&](TaskRef a, TaskRef b) {
      const TaskSpec &left = *session.task(a).spec, &right = *session.task(b).spec;
      if (left.priority != right.priority) return left.priority < right.priority;
      return left.shape->best_effort() && !right.shape->best_effort();
    });
    for (const TaskRef& one : pods) {
      const bool busy =
          node.cpu >= args_.target.cpu * 10 || node.memory >= args_.target.memory * 10;
      if (!busy || room.at(kCpu) <= 0 || room.at(kMemory) <= 0) return;
      const Resource& request = session.task(one).spec->shape->request;
      if (!request_fits(request, room)) continue;
      for (const Dim d : {kCpu, kMemory}) room.set(d, room.at(d) - request.at(d));
      node.cpu -= node.all.at(kCpu) > 0 ? scale(1000, request.at(kCpu), node.all.at(kCpu)) : 0;
      node.memory -=
          node.all.at(kMemory) > 0 ? scale(1000, request.at(kMemory), node.all.at(kMemory)) : 0;
      out.push_back(one);
    }
  }
  static bool request_fits(const Resource& request, const Resource& room) {
    return request.at(kCpu) <= room.at(kCpu) && request.at(kMemory) <= room.at(kMemory);
  }

  const ReschedulingArgs& args_;
  ReschedulingMemory& memory_;
};

Result<void> read_thresholds(Arguments& given, Thresholds& out) {
  TRY_ASSIGN(out.cpu, given.integer("cpu", 100));
  TRY_ASSIGN(out.memory, given.integer("memory", 100));
  return ignore_integers(given, {"pod", "pods"});  // nobody measures them
}

Result<void> read_params(Arguments& params, ReschedulingArgs& out) {
  TRY(read_map(params, "thresholds",
               [&](Arguments& given) { return read_thresholds(given, out.low); }));
  return read_map(params, "targetThresholds",
                  [&](Arguments& given) { return read_thresholds(given, out.target); });
}

Result<void> read_strategy(Arguments& one, ReschedulingArgs& out) {
  TRY_ASSIGN(const std::string name, one.string("name", ""));
  if (name != "lowNodeUtilization")
    return make_error(Code::Invalid, "unknown strategy \"" + name + "\"");
  return read_map(one, "params", [&](Arguments& params) { return read_params(params, out); });
}

Result<void> read_strategies(const JsonArray& given, ReschedulingArgs& out) {
  for (const Json& one : given) {
    if (!one.is_object())
      return make_error(Code::Invalid, "argument \"strategies\": a strategy is a map");
    TRY(read_map(&one.get_object(), "strategies",
                 [&](Arguments& strategy) { return read_strategy(strategy, out); }));
  }
  return {};
}

}  // namespace

Result<PluginFactory> configure_rescheduling(Arguments& arguments, const EnableFlags& flags) {
  const auto args = std::make_shared<ReschedulingArgs>();
  TRY_ASSIGN(const std::string interval, arguments.string("interval", "5m"));
  const std::optional<Duration> parsed = parse_go_duration(interval);
  if (!parsed || *parsed <= Duration(0))
    return make_error(Code::Invalid, "argument \"interval\" must be a time such as 5m");
  args->interval = *parsed;
  TRY(ignore_strings(arguments, {"metricsPeriod"}));  // nodes say over how long they look
  TRY_ASSIGN(const JsonArray* strategies, arguments.list("strategies"));
  if (strategies != nullptr) TRY(read_strategies(*strategies, *args));
  const auto memory = std::make_shared<ReschedulingMemory>();
  return PluginFactory([args, memory](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Rescheduling>(*args, *memory), enabled);
  });
}

}  // namespace krater::scheduler
