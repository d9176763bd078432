// numa-aware: Guaranteed pods go where their node's topology manager will admit them, those that
// ask for a policy (annotation volcano.sh/numa-topology-policy) to nodes with that policy, where
// they are spread over the fewest NUMA nodes (volcano.md 4.12). What was decided is written on the
// pod. Nodes tell of their processors in Numatopologies, some time after pods have come to them;
// until then the plugin remembers what it decided.
#include <algorithm>
#include <map>

#include "base/quantity.h"
#include "scheduler/plugins/numa_topology.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kPolicyKey = "volcano.sh/numa-topology-policy";
constexpr std::string_view kDecisionKey = "volcano.sh/topology-decision";

struct Decided {
  std::string node, name;  // name: "namespace/name" of the pod
  CpuSet cpus{};
};
// What nodes do not tell of yet, by the pods' uids; lives as long as the configuration.
using NumaMemory = std::map<std::string, Decided>;

// What matters of a pod.
struct NumaWish {
  bool guaranteed = false;
  std::string policy;                      // "": none is asked for
  std::vector<std::string> names{};        // of its containers
  std::vector<std::int64_t> processors{};  // of each; 0: none, or not whole ones
};

std::optional<Quantity> amount(const Json& container, std::string_view list,
                               std::string_view name) {
  const Json* given = find(container, {"resources", list, name});
  if (given == nullptr || !given->is_string()) return std::nullopt;
  const Result<Quantity> out = Quantity::parse(view(given->get_string()));
  return out ? std::optional(*out) : std::nullopt;
}

// Requests that are not given are the limits.
bool is_guaranteed(const Json& container) {
  for (const std::string_view name : {"cpu", "memory"}) {
    const auto limit = amount(container, "limits", name);
    const auto request = amount(container, "requests", name);
    if (!limit || limit->sign() <= 0) return false;
    if (request && request->milli_value() != limit->milli_value()) return false;
  }
  return true;
}

NumaWish wish_of(const ObjectPtr& object) {
  const PodView pod(object);
  NumaWish out;
  out.policy = std::string(pod.annotation(kPolicyKey));
  if (out.policy == "none") out.policy.clear();
  const std::string qos = text_at(pod.document(), {"status", "qosClass"});
  out.guaranteed = qos.empty() || qos == "Guaranteed";
  for (const std::string_view list : {"containers", "initContainers"}) {
    const JsonArray* containers = array_at(pod.document(), {"spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const Json& one = (*containers)[i];
      out.guaranteed = out.guaranteed && is_guaranteed(one);
      if (list != "containers") continue;
      auto cpu = amount(one, "requests", "cpu");
      if (!cpu) cpu = amount(one, "limits", "cpu");
      const std::int64_t milli = cpu ? cpu->milli_value() : 0;
      out.names.push_back(text_at(one, {"name"}));
      out.processors.push_back(milli % 1000 == 0 ? milli / 1000 : 0);
    }
  }
  return out;
}

class NumaAware final : public Plugin,
                        public TaskFilterHook,
                        public TaskScoreHook,
                        public BindNotesHook {
 public:
  NumaAware(std::int64_t weight, NumaMemory& memory) : weight_(weight), memory_(memory) {}

  void open(const Session& session) override {
    for (const auto& [place, object] : session.surroundings().numa) {
      const NodeSlot slot = session.find_node(NodeName(object->name()));
      if (slot != kNoNode) nodes_.emplace(slot, NumaTopology::from(*object->document()));
    }
    recall(session);
  }
  void close(Session& session) override {
    for (const auto& [id, tasks] : session.bound_tasks()) {
      for (const std::uint32_t t : tasks) {
        const TaskSpec& spec = *session.job(id).tasks[t].spec;
        const auto given = given_.find(&spec);
        if (given == given_.end()) continue;
        memory_[spec.pod->uid().text()] = {session.node(given->second.first).name,
                                           spec.name_space() + "/" + spec.name(),
                                           given->second.second};
      }
    }
  }

  void placed(const Session& session, JobId, const TaskSpec& task) override {
    const NodeSlot slot = session.pod_moves().back().node;
    const auto node = nodes_.find(slot);
    if (node == nodes_.end() || !concerns(task, node->second)) return;
    std::size_t refused = 0;
    auto cpus = numa_assignment(node->second, wish(task).processors, refused);
    if (!cpus) return;
    for (const int cpu : *cpus) node->second.free.erase(cpu);
    given_[&task] = {slot, *std::move(cpus)};
  }
  void unplaced(const Session&, JobId, const TaskSpec& task) override {
    const auto given = given_.find(&task);
    if (given == given_.end()) return;
    const auto& [slot, cpus] = given->second;
    nodes_.at(slot).free.insert(cpus.begin(), cpus.end());
    given_.erase(given);
  }

  // {"numa":{"0":{"cpu":"2"}}}: so many processors of each NUMA node.
  void annotate(const Session& session, TaskRef ref, Labels& annotations) const override {
    const auto given = given_.find(session.task(ref).spec.get());
    if (given == given_.end() || given->second.second.empty()) return;
    const auto& [slot, cpus] = given->second;
    std::map<int, std::int64_t> counts;
    for (const int cpu : cpus) ++counts[nodes_.at(slot).cpus.at(cpu).numa];
    JsonObject nodes;
    for (const auto& [numa, count] : counts)
      nodes[std::to_string(numa)] = JsonObject{{"cpu", std::to_string(count)}};
    annotations[std::string(kDecisionKey)] = to_json(JsonObject{{"numa", std::move(nodes)}});
  }

  Likeness likeness(const Session& session, TaskRef ref) const override {
    const NumaWish& mine = wish(*session.task(ref).spec);
    if (!mine.guaranteed || (nodes_.empty() && mine.policy.empty())) return {};
    std::string word = "numa " + mine.policy;
    for (const std::int64_t count : mine.processors) word += " " + std::to_string(count);
    return {std::move(word)};
  }
  std::string reject_task(const Session& session, TaskRef ref, NodeSlot slot, bool) const override {
    const NumaWish& mine = wish(*session.task(ref).spec);
    const auto node = nodes_.find(slot);
    if (!mine.policy.empty()) {
      if (node == nodes_.end()) return "numa info is empty";
      const NumaTopology& has = node->second;
      if (has.cpu_policy != "static") return "cpu manager policy isn't static";
      if (has.topology_policy != mine.policy) {
        return "task topology policy[" + mine.policy + "] is different with node[" +
               has.topology_policy + "]";
      }
      if (has.free.empty()) return "cpu allocatable map is empty";
    } else if (node == nodes_.end() || !concerns(*session.task(ref).spec, node->second)) {
      return {};
    }
    std::size_t refused = 0;
    if (numa_assignment(node->second, mine.processors, refused)) return {};
    return "container " + (refused < mine.names.size() ? mine.names[refused] : std::string()) +
           " cannot be assigned by numa";
  }
  // As if the worst node there is used all its NUMA nodes.
  std::int64_t score_task(const Session& session, TaskRef ref, NodeSlot slot) const override {
    const NumaWish& mine = wish(*session.task(ref).spec);
    const auto node = nodes_.find(slot);
    if (mine.policy.empty() || node == nodes_.end()) return 0;
    std::size_t refused = 0;
    const auto cpus = numa_assignment(node->second, mine.processors, refused);
    std::int64_t most = 1;
    for (const auto& [other, topology] : nodes_)
      most = std::max(most, static_cast<std::int64_t>(topology.numa_nodes().size()));
    const std::int64_t spread = cpus ? node->second.spread(*cpus) : most;
    return (most - spread) * 100 * kPoint / most * weight_;
  }

 private:
  const NumaWish& wish(const TaskSpec& task) const {
    const auto [place, fresh] = wishes_.try_emplace(&task);
    if (fresh) place->second = wish_of(task.pod);
    return place->second;
  }

  // Whether the node's managers give the pod processors of its own.
  bool concerns(const TaskSpec& task, const NumaTopology& node) const {
    return wish(task).guaranteed && node.cpu_policy == "static" && !node.topology_policy.empty() &&
           node.topology_policy != "none";
  }

  // What was decided before and is not told of by the node yet is taken as well; what is, and what
  // is no longer there, is forgotten.
  void recall(const Session& session) {
    if (memory_.empty()) return;
    std::map<std::string, std::string> there;  // node by uid
    for (const PlacedPod& pod : session.placed_pods())
      there[pod.task->pod->uid().text()] = session.node(pod.node).name;
    std::erase_if(memory_, [&](const auto& one) {
      const NodeSlot slot = session.find_node(NodeName(one.second.node));
      const auto node = nodes_.find(slot);
      const auto place = there.find(one.first);
      if (node == nodes_.end() || place == there.end() || place->second != one.second.node)
        return true;
      NumaTopology& topology = node->second;
      if (topology.told.contains(one.first) || topology.told.contains(one.second.name)) return true;
      for (const int cpu : one.second.cpus) topology.free.erase(cpu);
      return false;
    });
  }

  const std::int64_t weight_;
  NumaMemory& memory_;
  std::map<NodeSlot, NumaTopology> nodes_;
  std::map<const TaskSpec*, std::pair<NodeSlot, CpuSet>> given_;  // looked up, never walked
  mutable std::map<const TaskSpec*, NumaWish> wishes_;            // the same
};

}  // namespace

Result<PluginFactory> configure_numa_aware(Arguments& arguments, const EnableFlags& flags) {
  TRY_ASSIGN(const std::int64_t weight, arguments.integer("weight", 1));
  const auto memory = std::make_shared<NumaMemory>();
  return PluginFactory([weight, memory](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<NumaAware>(weight, *memory), enabled);
  });
}

}  // namespace krater::scheduler
