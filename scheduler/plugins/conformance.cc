// conformance: what the cluster itself lives on is never evicted.
#include "scheduler/plugins/eviction_guard.h"
#include "scheduler/plugins/plugins.h"

namespace krater::scheduler {
namespace {

class Conformance final : public EvictionGuard {
 public:
  std::string_view keeps_as() const override { return "are vital to the cluster"; }
  bool protects(const TaskSpec& task) const override {
    return task.priority_class == "system-cluster-critical" ||
           task.priority_class == "system-node-critical" || task.name_space() == "kube-system";
  }
};

}  // namespace

Result<PluginFactory> configure_conformance(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Conformance>(), enabled);
  });
}

}  // namespace krater::scheduler
