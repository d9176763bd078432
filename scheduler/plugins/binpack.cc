// binpack: prefers the node that the pod fills best (volcano.md 4.10).
#include "base/strings.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/score_math.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

class Binpack final : public Plugin, public ScoreHook {
 public:
  explicit Binpack(BinpackWeights weights) : weights_(std::move(weights)) {}

  void open(const Session& session) override {
    by_dim_ = {{kCpu, weights_.cpu}, {kMemory, weights_.memory}};
    for (Dim d = 0; d < session.names().count(); ++d) {
      const auto named = weights_.others.find(session.names().name(d));
      if (named != weights_.others.end()) by_dim_.emplace_back(d, named->second);
    }
  }
  std::int64_t score(const PodShape& shape, const NodeInfo& node) const override {
    return binpack_score(shape.request, node, by_dim_, weights_.weight);
  }

 private:
  BinpackWeights weights_;
  std::vector<std::pair<Dim, std::int64_t>> by_dim_;
};

Result<std::int64_t> weight(Arguments& arguments, std::string_view key) {
  TRY_ASSIGN(const std::int64_t given, arguments.integer(key, 1));
  return given < 0 ? 1 : given;
}

}  // namespace

Result<PluginFactory> configure_binpack(Arguments& arguments, const EnableFlags& flags) {
  BinpackWeights weights;
  TRY_ASSIGN(weights.weight, weight(arguments, "binpack.weight"));
  TRY_ASSIGN(weights.cpu, weight(arguments, "binpack.cpu"));
  TRY_ASSIGN(weights.memory, weight(arguments, "binpack.memory"));
  TRY_ASSIGN(const std::string listed, arguments.string("binpack.resources", ""));
  for (const std::string_view piece : split(listed, ',')) {
    const std::string name(trim(piece));
    if (name.empty()) continue;
    TRY_ASSIGN(weights.others[name], weight(arguments, "binpack.resources." + name));
  }
  return PluginFactory([weights](PluginSet& plugins, const EnableFlags& enabled) {
    if (weights.weight != 0) plugins.add(std::make_unique<Binpack>(weights), enabled);
  });
}

}  // namespace krater::scheduler
