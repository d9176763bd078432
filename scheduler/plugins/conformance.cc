// conformance: what the cluster itself lives on is never evicted.
#include <algorithm>
#include <iterator>

#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

class Conformance final : public Plugin,
                          public PreemptableHook,
                          public ReclaimableHook,
                          public GangEvictableHook,
                          public EvictionGuardHook {
 public:
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return unprotected(session, candidates);
  }
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef,
                                      const TaskRefs& candidates) const override {
    return unprotected(session, candidates);
  }
  TaskRefs gang_evictable(const Session& session, TaskRef, const TaskRefs& candidates,
                          bool) const override {
    return unprotected(session, candidates);
  }
  bool protects(const TaskSpec& task) const override {
    return task.priority_class == "system-cluster-critical" ||
           task.priority_class == "system-node-critical" || task.name_space() == "kube-system";
  }

 private:
  TaskRefs unprotected(const Session& session, const TaskRefs& candidates) const {
    TaskRefs out;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(out),
                 [&](const TaskRef& one) { return !protects(*session.task(one).spec); });
    return out;
  }
};

}  // namespace

Result<PluginFactory> configure_conformance(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Conformance>(), enabled);
  });
}

}  // namespace krater::scheduler
