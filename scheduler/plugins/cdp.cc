// cdp: a pod that has just been placed is left alone for its cool-down time
// (volcano.sh/cooldown-time, annotation before label; volcano.md 4.12).
#include "scheduler/plugins/eviction_guard.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

class Cooldown final : public EvictionGuard {
 public:
  std::string_view keeps_as() const override { return "are in their cool-down time"; }
  void open(const Session& session) override { now_ = session.now(); }

  bool protects(const TaskSpec& task) const override {
    if (!task.cools_until || *task.cools_until <= now_) return false;
    if (!first_end_ || *task.cools_until < *first_end_) first_end_ = task.cools_until;
    return true;
  }
  // Whoever was denied somebody may have him later.
  void close(Session& session) override {
    if (first_end_) session.look_again(*first_end_);
  }

 private:
  WallTime now_;
  mutable std::optional<WallTime> first_end_{};  // of those who were asked for in vain
};

}  // namespace

Result<PluginFactory> configure_cdp(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Cooldown>(), enabled);
  });
}

}  // namespace krater::scheduler
