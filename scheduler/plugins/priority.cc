// priority: tasks and jobs of higher priority go first.
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

int higher_first(std::int64_t a, std::int64_t b) {
  return a > b ? -1 : a < b ? 1 : 0;
}

class Priority final : public Plugin, public JobOrderHook, public TaskOrderHook {
 public:
  int job_order(const Session& session, JobId a, JobId b) const override {
    return higher_first(session.job(a).priority, session.job(b).priority);
  }
  int task_order(const TaskSpec& a, const TaskSpec& b) const override {
    return higher_first(a.priority, b.priority);
  }
};

}  // namespace

Result<PluginFactory> configure_priority(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Priority>(), enabled);
  });
}

}  // namespace krater::scheduler
