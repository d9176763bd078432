// nodeorder: kube-scheduler's scores, weighted: least and most requested, balanced use, preferred
// node affinity, PreferNoSchedule taints, preferred pod affinity and topology spread (these two are
// worked out by Neighbours). Preferences are normalised over the nodes that may take
// the pod at all.
#include <algorithm>
#include <array>

#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/score_math.h"

namespace krater::scheduler {
namespace {

struct NodeOrderArgs {
  std::int64_t least = 1, most = 0, balanced = 1, affinity = 2, taints = 3;
  std::int64_t pod_affinity = 2, spread = 2;
};

std::int64_t intolerable_preferences(const PodShape& shape, const NodeSpec& node) {
  std::int64_t count = 0;
  for (const Taint& taint : node.taints) {
    if (taint.effect != "PreferNoSchedule") continue;
    const bool fine =
        std::any_of(shape.tolerations.begin(), shape.tolerations.end(), [&](const Toleration& one) {
          return (one.effect.empty() || one.effect == "PreferNoSchedule") && one.tolerates(taint);
        });
    if (!fine) ++count;
  }
  return count;
}

class NodeOrder final : public Plugin, public ScoreHook {
 public:
  explicit NodeOrder(NodeOrderArgs args) : args_(args) {}

  std::int64_t score(const PodShape& shape, const NodeInfo& node) const override {
    std::int64_t sum = 0;
    if (args_.least != 0) sum += args_.least * least_requested(shape.request, node);
    if (args_.most != 0) sum += args_.most * most_requested(shape.request, node);
    if (args_.balanced != 0) sum += args_.balanced * balanced_use(shape.request, node);
    return sum;
  }

  void add_fixed(const PodShape& shape, const std::vector<const NodeSpec*>& nodes,
                 std::vector<std::int64_t>& scores) const override {
    if (args_.affinity != 0 && shape.affinity.has_preferences()) {
      std::vector<std::int64_t> raw;
      for (const NodeSpec* node : nodes)
        raw.push_back(shape.affinity.preference(node->name, node->labels));
      add_normalised(raw, args_.affinity, /*inverse=*/false, scores);
    }
    if (args_.taints == 0) return;
    std::vector<std::int64_t> raw;
    for (const NodeSpec* node : nodes) raw.push_back(intolerable_preferences(shape, *node));
    add_normalised(raw, args_.taints, /*inverse=*/true, scores);
  }

 private:
  static void add_normalised(const std::vector<std::int64_t>& raw, std::int64_t weight,
                             bool inverse, std::vector<std::int64_t>& scores) {
    if (raw.empty()) return;
    const std::int64_t top = *std::max_element(raw.begin(), raw.end());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const std::int64_t points = top <= 0 ? 0 : scale(100 * kPoint, raw[i], top);
      scores[i] += weight * (inverse ? 100 * kPoint - points : points);
    }
  }

  NodeOrderArgs args_;
};

}  // namespace

Result<PluginFactory> configure_nodeorder(Arguments& arguments, const EnableFlags& flags) {
  NodeOrderArgs args;
  TRY_ASSIGN(args.least, arguments.integer("leastrequested.weight", 1));
  TRY_ASSIGN(args.most, arguments.integer("mostrequested.weight", 0));
  TRY_ASSIGN(args.balanced, arguments.integer("balancedresource.weight", 1));
  TRY_ASSIGN(args.affinity, arguments.integer("nodeaffinity.weight", 2));
  TRY_ASSIGN(args.taints, arguments.integer("tainttoleration.weight", 3));
  TRY_ASSIGN(args.pod_affinity, arguments.integer("podaffinity.weight", 2));
  TRY_ASSIGN(args.spread, arguments.integer("podtopologyspread.weight", 2));
  arguments.ignore("imagelocality.weight");  // nodes do not say which images they have
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<NodeOrder>(args), enabled);
    if (!enabled.on("enableNodeOrder")) return;
    plugins.neighbours.affinity_weight = args.pod_affinity;
    plugins.neighbours.spread_weight = args.spread;
  });
}

}  // namespace krater::scheduler
