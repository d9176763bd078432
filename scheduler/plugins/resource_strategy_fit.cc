// resource-strategy-fit: spreads over one resource and packs another (volcano.md 4.12). A pod's own
// annotations replace the configuration. sra keeps pods that need no scarce resource off the nodes
// that have it; proportional keeps enough cpu and memory beside what is idle of it.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kTypeKey = "volcano.sh/resource-strategy-scoring-type";
constexpr std::string_view kWeightKey = "volcano.sh/resource-strategy-weight";
constexpr std::int64_t kFull = 100 * kPoint;

struct Strategy {
  bool most = false;  // MostAllocated: fill up
  std::int64_t weight = 1;
};
struct FitArgs {
  std::int64_t weight = 10;
  std::map<std::string, Strategy, std::less<>> resources{};  // a trailing * stands for anything
  std::int64_t scarce_weight = 0;
  std::map<std::string, std::int64_t> scarce{};
  struct Beside {
    std::int64_t cpu = 1000, memory = 1000;  // per mille: cores, and megabytes (10^6), for each one
  };
  std::map<std::string, Beside> proportional{};
};

// The exact name, else the longest prefix that fits.
const Strategy* strategy_for(const FitArgs& args, std::string_view resource) {
  if (const auto exact = args.resources.find(resource); exact != args.resources.end())
    return &exact->second;
  const Strategy* best = nullptr;
  std::size_t length = 0;
  for (const auto& [name, strategy] : args.resources) {
    if (name.empty() || name.back() != '*') continue;
    const std::string_view prefix = std::string_view(name).substr(0, name.size() - 1);
    if (!resource.starts_with(prefix) || prefix.size() < length) continue;
    best = &strategy;
    length = prefix.size();
  }
  return best;
}

class ResourceStrategyFit final : public Plugin, public TaskFilterHook, public TaskScoreHook {
 public:
  explicit ResourceStrategyFit(const FitArgs& args) : args_(args) {}

  Likeness likeness(const Session& session, TaskRef task) const override {
    const ObjectView pod(session.task(task).spec->pod);
    return {"fit " + std::string(pod.annotation(kTypeKey)) + " " +
            std::string(pod.annotation(kWeightKey))};
  }

  std::string reject_task(const Session& session, TaskRef ref, NodeSlot slot, bool) const override {
    const NodeInfo& node = session.node(slot);
    const Resource& request = session.task(ref).spec->shape->request;
    for (Dim d = 0; d < request.dims(); ++d) {
      if (request.at(d) > 0 && args_.proportional.contains(session.names().name(d))) return {};
    }
    for (Dim d = 0; d < node.idle.dims(); ++d) {
      const auto beside = args_.proportional.find(session.names().name(d));
      if (beside == args_.proportional.end() || node.idle.at(d) <= 0) continue;
      const std::int64_t cpu = scale(node.idle.at(d), beside->second.cpu, 1);
      const std::int64_t memory = scale(node.idle.at(d), beside->second.memory * 1'000, 1);
      if (node.idle.at(kCpu) - request.at(kCpu) < cpu ||
          node.idle.at(kMemory) - request.at(kMemory) < memory) {
        return "proportional of resource " + beside->first + " check failed";
      }
    }
    return {};
  }

  std::int64_t score_task(const Session& session, TaskRef ref, NodeSlot slot) const override {
    const NodeInfo& node = session.node(slot);
    const TaskSpec& task = *session.task(ref).spec;
    return fit_score(session, task, node) + scarce_score(session, task.shape->request, node);
  }

 private:
  std::int64_t fit_score(const Session& session, const TaskSpec& task, const NodeInfo& node) const {
    if (args_.weight <= 0) return 0;
    const ObjectView pod(task.pod);
    const std::string_view own_type = pod.annotation(kTypeKey);
    Result<Json> own =
        own_type.empty() ? Result<Json>(Json()) : parse_json(pod.annotation(kWeightKey));
    if (!own || (!own_type.empty() && !own->is_object())) return 0;
    const Resource& request = task.shape->request;
    std::int64_t sum = 0, weights = 0;
    for (Dim d = 0; d < request.dims(); ++d) {
      if (d == kPods || request.at(d) <= 0) continue;
      const std::string& name = session.names().name(d);
      Strategy strategy;
      if (own_type.empty()) {
        const Strategy* given = strategy_for(args_, name);
        if (given == nullptr) continue;
        strategy = *given;
      } else {
        const auto weight = int_at(*own, {name});
        if (!weight) continue;
        strategy = {own_type == "MostAllocated",
                    std::clamp(*weight, -Arguments::kMostNumber, Arguments::kMostNumber)};
      }
      const std::int64_t all = node.spec->allocatable.at(d);
      const std::int64_t after = node.used.at(d) + request.at(d);
      if (all > 0 && strategy.weight > 0) {
        if (after > all) return 0;
        sum += strategy.weight * scale(kFull, strategy.most ? after : all - after, all);
      }
      weights += strategy.weight;
    }
    return weights <= 0 ? 0 : args_.weight * (sum / weights);
  }

  // The less of the scarce resources a node has, the better; of those that have all that is asked
  // for.
  std::int64_t scarce_score(const Session& session, const Resource& request,
                            const NodeInfo& node) const {
    if (args_.scarce_weight <= 0) return 0;
    for (Dim d = 0; d < request.dims(); ++d) {
      if (request.at(d) > 0 && node.spec->allocatable.at(d) == 0) return 0;
    }
    std::int64_t all = 0, has = 0;
    for (const auto& [name, weight] : args_.scarce) {
      all += weight;
      for (Dim d = 0; d < session.names().count(); ++d) {
        if (session.names().name(d) == name && node.spec->allocatable.at(d) > 0) has += weight;
      }
    }
    if (all == 0) return 0;
    return args_.scarce_weight * (kFull - scale(kFull, has, all));
  }

  const FitArgs& args_;
};

Error bad(const std::string& what) {
  return make_error(Code::Invalid, what);
}

Result<void> read_strategy(Arguments& given, Strategy& out) {
  TRY_ASSIGN(const std::string type, given.string("type", ""));
  TRY_ASSIGN(const std::int64_t weight, given.integer("weight", 1));
  if (!type.empty() && type != "LeastAllocated" && type != "MostAllocated")
    return bad("unknown type \"" + type + "\"");
  out = {type == "MostAllocated", weight <= 0 ? 1 : weight};
  return {};
}

Result<void> read_resources(Arguments& arguments, FitArgs& out) {
  TRY_ASSIGN(const JsonObject* given, arguments.object("resources"));
  if (given == nullptr || given->empty()) {
    out.resources = {{"cpu", {}}, {"memory", {}}};
    return {};
  }
  return read_map(given, "resources", [&](Arguments& resources) -> Result<void> {
    for (const auto& member : *given) {
      const std::string name(member.key().data(), member.key().size());
      const std::size_t star = name.find('*');
      if (star != std::string::npos && (star == 0 || star + 1 != name.size()))
        return bad("\"" + name + "\": only one * at the end is allowed");
      TRY(read_map(resources, name,
                   [&](Arguments& one) { return read_strategy(one, out.resources[name]); }));
    }
    return {};
  });
}

// "nvidia.com/gpu, example.com/fpga"
Result<std::vector<std::string>> listed_resources(Arguments& given) {
  TRY_ASSIGN(const std::string text, given.string("resources", ""));
  std::vector<std::string> out;
  for (const std::string_view piece : split(text, ',')) {
    if (!trim(piece).empty()) out.emplace_back(trim(piece));
  }
  return out;
}

Result<void> read_sra(Arguments& sra, FitArgs& out) {
  TRY_ASSIGN(const bool on, sra.boolean("enable", false));
  TRY_ASSIGN(const std::int64_t weight, sra.integer("weight", 0));
  TRY_ASSIGN(const std::vector<std::string> listed, listed_resources(sra));
  if (on) out.scarce_weight = weight;
  return read_map(sra, "resourceWeight", [&](Arguments& weights) -> Result<void> {
    for (const std::string& name : listed) {
      TRY_ASSIGN(const std::int64_t own, weights.integer(name, 1));
      if (on) out.scarce[name] = own < 0 ? 1 : own;
    }
    return {};
  });
}

Result<void> read_proportional(Arguments& given, FitArgs& out) {
  TRY_ASSIGN(const bool on, given.boolean("enable", false));
  TRY_ASSIGN(const std::vector<std::string> listed, listed_resources(given));
  return read_map(given, "resourceProportion", [&](Arguments& rates) -> Result<void> {
    for (const std::string& name : listed) {
      FitArgs::Beside beside;
      TRY_ASSIGN(beside.cpu, rates.per_mille(name + ".cpu", 1000));
      TRY_ASSIGN(beside.memory, rates.per_mille(name + ".memory", 1000));
      if (beside.cpu < 0) beside.cpu = 1000;
      if (beside.memory < 0) beside.memory = 1000;
      if (on) out.proportional[name] = beside;
    }
    return {};
  });
}

}  // namespace

Result<PluginFactory> configure_resource_strategy_fit(Arguments& arguments,
                                                      const EnableFlags& flags) {
  const auto args = std::make_shared<FitArgs>();
  TRY_ASSIGN(args->weight, arguments.integer("resourceStrategyFitWeight", 10));
  if (args->weight < 0) args->weight = 10;
  TRY(read_resources(arguments, *args));
  TRY(read_map(arguments, "sra", [&](Arguments& sra) { return read_sra(sra, *args); }));
  TRY(read_map(arguments, "proportional",
               [&](Arguments& given) { return read_proportional(given, *args); }));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<ResourceStrategyFit>(*args), enabled);
  });
}

}  // namespace krater::scheduler
