// network-topology-aware: gangs within one HyperNode of an allowed tier, the nearest that has room;
// other pods where HyperNodes are full already (volcano.md 4.12). Of soft topology the same is
// tried, and anywhere after that.
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/hyper_tree.h"
#include "scheduler/plugins/plugins.h"

namespace krater::scheduler {
namespace {

constexpr std::int64_t kFull = 100 * kPoint;
// Where tiers do not fade but grow: a million times the first is enough.
constexpr std::int64_t kHeaviest = 1'000'000'000'000;

struct TopologyArgs {
  std::int64_t weight = 1, cpu = 1, memory = 1;
  std::map<std::string, std::int64_t> others{};
  bool normal_pods = true;
  std::int64_t fading = 800;  // per mille
};

// Around all there is.
constexpr std::string_view kClusterTop = "<cluster-top-hypernode>";

class NetworkTopology final : public Plugin,
                              public DomainHook,
                              public TaskScoreHook,
                              public WhyHook {
 public:
  // `orders`: of the HyperNodes of a tier the fullest that has room is taken; else the first.
  NetworkTopology(const TopologyArgs& args, HyperTree& tree, bool orders)
      : args_(args), tree_(tree), orders_(orders) {}

  void open(const Session& session) override {
    tree_.follow(session);
    if (tree_.empty()) return;
    weights_ = {{kCpu, args_.cpu}, {kMemory, args_.memory}};
    for (Dim d = 0; d < session.names().count(); ++d) {
      const auto named = args_.others.find(session.names().name(d));
      if (named != args_.others.end()) weights_.emplace_back(d, named->second);
    }
    allocatable_.resize(tree_.all().size());
    used_.resize(tree_.all().size());
    for (const NodeSlot slot : session.node_order()) {
      for (const std::uint32_t i : tree_.around(slot)) {
        allocatable_[i] += session.node(slot).spec->allocatable;
        used_[i] += session.node(slot).used;
      }
    }
  }

  std::vector<std::vector<Domain>> domains_for(const Session& session, JobId id) const override {
    const JobInfo& job = session.job(id);
    if (!job.network) return {};
    return domains(session, *job.network, nodes_of(job, std::nullopt), job.pending);
  }

  std::vector<std::vector<Domain>> domains_for_sub_group(const Session& session, JobId id,
                                                         std::uint32_t group) const override {
    const JobInfo& job = session.job(id);
    const std::uint32_t policy = job.sub_groups[group].policy;
    if (policy == SubGroup::kNoPolicy || !(*job.sub_group_policies)[policy].network) return {};
    Resource pending;
    for (const Task& task : job.tasks) {
      if (task.sub_group == group && task.status == TaskStatus::Pending)
        pending += task.spec->shape->request;
    }
    return domains(session, *(*job.sub_group_policies)[policy].network, nodes_of(job, group),
                   pending);
  }

  std::string domain_of(const Session& session, JobId id) const override {
    const JobInfo& job = session.job(id);
    if (tree_.empty() || (!job.network && !job.sub_group_policies)) return {};
    const std::vector<NodeSlot> there = nodes_of(job, std::nullopt);
    if (there.empty()) return {};
    for (const HyperNode& one : tree_.all()) {
      if (holds(one, there)) return one.name;
    }
    return std::string(kClusterTop);
  }

  // A tier that nobody has by that name is nobody's fault but the name's.
  void say_why(const Session& session, JobId id, Circumstances& out) const override {
    const JobInfo& job = session.job(id);
    std::vector<const NetworkWish*> wishes;
    if (job.network) wishes.push_back(&*job.network);
    if (job.sub_group_policies) {
      for (const auto& policy : *job.sub_group_policies) {
        if (policy.network) wishes.push_back(&*policy.network);
      }
    }
    std::set<std::string> said;
    for (const NetworkWish* wish : wishes) {
      const std::string& name = wish->highest_name;
      if (!wish->hard || name.empty() || tree_.tier_named(name) || !said.insert(name).second)
        continue;
      out.lines.push_back("no HyperNode is of a tier named \"" + name +
                          "\", which highestTierName asks for" + tier_names());
    }
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    if (tree_.empty() || args_.weight == 0) return {};
    const bool aware = is_aware(session.job(task.job), session.task(task));
    if (!aware && !args_.normal_pods) return {};
    if (!aware) return {"normal", true};
    std::string word = "aware " + std::to_string(task.job);
    if (session.job(task.job).sub_group_policies)
      word += "/" + std::to_string(session.task(task).sub_group);
    return {std::move(word), true};
  }

  std::int64_t score_task(const Session& session, TaskRef task, NodeSlot node) const override {
    const JobInfo& job = session.job(task.job);
    const Task& one = session.task(task);
    const std::int64_t points = is_aware(job, one) ? near_score(nodes_beside(job, one), node)
                                                   : normal_score(one.spec->shape->request, node);
    return points * args_.weight;
  }

  void placed(const Session& session, JobId, const TaskSpec& task) override {
    move(session.pod_moves().back().node, task.shape->request, 1);
  }
  void unplaced(const Session& session, JobId, const TaskSpec& task) override {
    move(session.pod_moves().back().node, task.shape->request, -1);
  }

 private:
  std::vector<std::vector<Domain>> domains(const Session& session, const NetworkWish& wish,
                                           const std::vector<NodeSlot>& there,
                                           const Resource& pending) const {
    std::vector<std::vector<Domain>> out;
    std::optional<std::int64_t> highest = wish.highest, tier;
    if (!wish.highest_name.empty()) highest = tree_.tier_named(wish.highest_name).value_or(-1);
    for (std::size_t i = 0; i < tree_.all().size(); ++i) {
      const HyperNode& one = tree_.all()[i];
      if (highest && one.tier > *highest) continue;
      // Who has members running goes where they are.
      if (!holds(one, there)) continue;
      if (tier != one.tier) out.emplace_back();
      tier = one.tier;
      out.back().push_back({one.name, one.nodes, orders_ ? fullness(i, pending) : 0});
    }
    const bool anywhere = !wish.hard || wish.any_tier();
    if (anywhere) {
      out.push_back(
          std::vector<Domain>{Domain{"", std::vector<bool>(session.node_slots(), true), 0}});
    } else if (out.empty()) {
      out.emplace_back();
    }
    return out;
  }

  std::string tier_names() const {
    std::set<std::string> names;
    for (const HyperNode& one : tree_.all()) {
      if (!one.tier_name.empty()) names.insert("\"" + one.tier_name + "\"");
    }
    if (names.empty()) return "; none has a tier name";
    return "; there are " + join(std::vector<std::string>(names.begin(), names.end()), ", ");
  }

  static bool holds(const HyperNode& one, const std::vector<NodeSlot>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeSlot slot) { return one.nodes[slot]; });
  }

  // The task's sub-group, or its job, asks for nearness.
  static bool is_aware(const JobInfo& job, const Task& task) {
    if (job.network) return true;
    if (!job.sub_group_policies) return false;
    const std::uint32_t policy = job.sub_groups[task.sub_group].policy;
    return policy != SubGroup::kNoPolicy && (*job.sub_group_policies)[policy].network.has_value();
  }

  // Where the job, or one of its sub-groups, has tasks.
  static std::vector<NodeSlot> nodes_of(const JobInfo& job, std::optional<std::uint32_t> group) {
    std::vector<NodeSlot> out;
    for (const Task& task : job.tasks) {
      if (task.node != kNoNode && is_allocated(task.status) && (!group || task.sub_group == *group))
        out.push_back(task.node);
    }
    return out;
  }
  // Those that the task belongs with: of its sub-group first.
  static std::vector<NodeSlot> nodes_beside(const JobInfo& job, const Task& task) {
    if (!job.sub_group_policies) return nodes_of(job, std::nullopt);
    std::vector<NodeSlot> out = nodes_of(job, task.sub_group);
    return out.empty() ? nodes_of(job, std::nullopt) : out;
  }

  // How full it is with the request there; 0 where it does not fit.
  std::int64_t fullness(std::size_t hyper_node, const Resource& request) const {
    std::int64_t sum = 0, weight_sum = 0;
    for (const auto& [dim, weight] : weights_) {
      if (request.at(dim) <= 0) continue;
      const std::int64_t all = allocatable_[hyper_node].at(dim);
      const std::int64_t after = used_[hyper_node].at(dim) + request.at(dim);
      if (after > all) return 0;
      weight_sum += weight;
      if (all > 0) sum += weight * scale(kFull, after, all);
    }
    return weight_sum <= 0 ? 0 : sum / weight_sum;
  }

  // The lower the tier that joins the node with the job's other nodes, the better.
  std::int64_t near_score(const std::vector<NodeSlot>& there, NodeSlot node) const {
    if (there.empty() || tree_.empty()) return 0;
    const std::int64_t least = tree_.all().front().tier, most = tree_.all().back().tier + 1;
    for (const std::uint32_t i : tree_.around(node)) {
      const HyperNode& one = tree_.all()[i];
      if (holds(one, there)) return scale(kFull, most - one.tier, most - least);
    }
    return 0;
  }

  // Nodes in full HyperNodes; those in none first of all.
  std::int64_t normal_score(const Resource& request, NodeSlot node) const {
    std::int64_t sum = 0, weights = 0, weight = 1'000'000;
    const std::vector<std::uint32_t>& around = tree_.around(node);
    std::size_t next = 0;
    for (const std::int64_t tier : tree_.tiers()) {
      std::int64_t points = kFull;
      for (; next < around.size() && tree_.all()[around[next]].tier == tier; ++next)
        points = fullness(around[next], request);
      sum += scale(points, weight, 1'000'000);
      weights += weight;
      weight = std::min(scale(weight, args_.fading, 1000), kHeaviest);
    }
    return scale(sum, 1'000'000, weights);
  }

  void move(NodeSlot node, const Resource& request, int sign) {
    for (const std::uint32_t i : tree_.around(node))
      sign > 0 ? used_[i] += request : used_[i] -= request;
  }

  const TopologyArgs& args_;
  HyperTree& tree_;  // outlives sessions
  const bool orders_;
  std::vector<std::pair<Dim, std::int64_t>> weights_;
  std::vector<Resource> allocatable_, used_;  // by HyperNode
};

Result<std::int64_t> weight(Arguments& arguments, std::string_view key) {
  TRY_ASSIGN(const std::int64_t given, arguments.integer(key, 1));
  return given < 0 ? 1 : given;
}

}  // namespace

Result<PluginFactory> configure_network_topology_aware(Arguments& arguments,
                                                       const EnableFlags& flags) {
  const auto args = std::make_shared<TopologyArgs>();
  TRY_ASSIGN(args->weight, weight(arguments, "weight"));
  TRY_ASSIGN(args->cpu, weight(arguments, "hypernode.binpack.cpu"));
  TRY_ASSIGN(args->memory, weight(arguments, "hypernode.binpack.memory"));
  TRY_ASSIGN(const std::string listed, arguments.string("hypernode.binpack.resources", ""));
  for (const std::string_view piece : split(listed, ',')) {
    const std::string name(trim(piece));
    if (name.empty()) continue;
    TRY_ASSIGN(args->others[name], weight(arguments, "hypernode.binpack.resources." + name));
  }
  TRY_ASSIGN(args->normal_pods, arguments.boolean("hypernode.binpack.normal-pod.enable", true));
  TRY_ASSIGN(args->fading, arguments.per_mille("hypernode.binpack.normal-pod.fading", 800));
  if (args->fading < 0) args->fading = 800;
  // How many domains are looked at is the gang actions' maxDomains.
  TRY(ignore_integers(arguments, {"hypernode.gradient.evict.max-hypernodes"}));
  const auto tree = std::make_shared<HyperTree>();
  return PluginFactory([args, tree](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(
        std::make_unique<NetworkTopology>(*args, *tree, enabled.on("enabledHyperNodeOrder")),
        enabled);
  });
}

}  // namespace krater::scheduler
