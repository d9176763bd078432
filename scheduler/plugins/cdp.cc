// cdp: a pod that has just been placed is left alone for its cool-down time
// (volcano.sh/cooldown-time, annotation before label; volcano.md 4.12).
#include "model/keys.h"
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
    const PodView pod(task.pod);
    std::string_view text = pod.annotation(keys::kCooldownTime);
    if (text.empty()) text = pod->label(keys::kCooldownTime);
    const std::optional<Duration> time = text.empty() ? std::nullopt : parse_go_duration(text);
    if (!time) return false;
    const std::optional<Condition> placed = pod.condition("PodScheduled");
    const std::optional<WallTime> since = placed ? placed->last_transition : std::nullopt;
    if (!since || *since + *time <= now_) return false;
    if (!first_end_ || *since + *time < *first_end_) first_end_ = *since + *time;
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
