// nodeorder: kube-scheduler's scores, weighted: least and most requested, balanced use, preferred
// node affinity, PreferNoSchedule taints, images that are there, preferred pod affinity and
// topology spread (these two are worked out by Neighbours). Preferences are normalised over the
// nodes that may take the pod at all.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/score_math.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

struct NodeOrderArgs {
  std::int64_t least = 1, most = 0, balanced = 1, affinity = 2, taints = 3;
  std::int64_t pod_affinity = 2, spread = 2, images = 1;
};

// Beside cpu and memory, what Volcano wants used evenly.
constexpr std::string_view kGpu = "nvidia.com/gpu";
// A container's images count between these sizes.
constexpr std::int64_t kLeastImage = std::int64_t{23} << 20, kMostImage = std::int64_t{1000} << 20;

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

// As nodes list it.
std::string with_tag(std::string image) {
  const std::size_t slash = image.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash;
  return image.find(':', name) == std::string::npos ? image + ":latest" : image;
}

class NodeOrder final : public Plugin, public ScoreHook, public TaskScoreHook {
 public:
  explicit NodeOrder(NodeOrderArgs args) : args_(args) {}

  void open(const Session& session) override {
    for (Dim d = 0; d < session.names().count(); ++d) {
      if (session.names().name(d) == kGpu) gpu_ = d;
    }
    if (args_.images == 0) return;
    nodes_ = static_cast<std::int64_t>(session.node_order().size());
    for (const NodeSlot slot : session.node_order()) {
      for (const auto& [image, size] : session.node(slot).spec->images) ++having_[image];
    }
  }

  std::int64_t score(const PodShape& shape, const NodeInfo& node) const override {
    std::int64_t sum = 0;
    if (args_.least != 0) sum += args_.least * least_requested(shape.request, node);
    if (args_.most != 0) sum += args_.most * most_requested(shape.request, node);
    if (args_.balanced != 0) sum += args_.balanced * balanced_use(shape.request, node, gpu_);
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

  // Where nodes say which images they have.
  Likeness likeness(const Session& session, TaskRef task) const override {
    if (having_.empty()) return {};
    std::string word = "images";
    for (const std::string& image : images_of(*session.task(task).spec)) word += ' ' + image;
    return {std::move(word)};
  }
  // What need not be fetched; an image that few nodes have counts less, so that not all pods go to
  // them.
  std::int64_t score_task(const Session& session, TaskRef task, NodeSlot slot) const override {
    const std::vector<std::string>& images = images_of(*session.task(task).spec);
    const auto& there = session.node(slot).spec->images;
    std::int64_t sum = 0;
    for (const std::string& image : images) {
      const auto size = there.find(image);
      if (size != there.end()) sum += scale(size->second, having_.at(image), nodes_);
    }
    const std::int64_t most = kMostImage * static_cast<std::int64_t>(images.size());
    if (most <= kLeastImage) return 0;
    return args_.images * scale(100 * kPoint, std::clamp(sum, kLeastImage, most) - kLeastImage,
                                most - kLeastImage);
  }

 private:
  const std::vector<std::string>& images_of(const TaskSpec& task) const {
    const auto [place, fresh] = images_.try_emplace(&task);
    if (!fresh) return place->second;
    const auto document = task.pod->document();
    for (const std::string_view list : {"containers", "initContainers"}) {
      const JsonArray* containers = array_at(*document, {"spec", list});
      for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i)
        place->second.push_back(with_tag(text_at((*containers)[i], {"image"})));
    }
    return place->second;
  }

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
  std::optional<Dim> gpu_{};  // that anybody has spoken of
  std::int64_t nodes_ = 0;
  std::map<std::string, std::int64_t> having_;                          // nodes that have an image
  mutable std::map<const TaskSpec*, std::vector<std::string>> images_;  // looked up, never walked
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
  TRY_ASSIGN(args.images, arguments.integer("imagelocality.weight", 1));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<NodeOrder>(args), enabled);
    if (!enabled.on("enableNodeOrder")) return;
    plugins.neighbours.affinity_weight = args.pod_affinity;
    plugins.neighbours.spread_weight = args.spread;
  });
}

}  // namespace krater::scheduler
