// Job plugins: what spec.plugins puts into pods, and the objects it keeps for a job. Pure; one file
// a plugin, one table in plugins.cc.
#pragma once

#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

extern const Kind kNetworkPolicy;

// Puts what the job's plugins inject into a pod that is otherwise complete.
void apply_plugins(const Observed& seen, const VolcanoTask& task, std::int64_t index, Json& pod);

struct PluginPlan {
  std::vector<PlannedWrite> writes{};
  bool needs_key = false;           // an SSH key must be made before pods are
  bool has_predecessors = false;    // what an earlier job of this name leaves is still to go
  std::vector<std::string> held{};  // by somebody else: "ConfigMap a-svc"
};
// Objects that are missing or out of date.
PluginPlan sync_plugin_objects(const Observed& seen);
// Objects to take away when the job is over.
std::vector<PlannedWrite> remove_plugin_objects(const Observed& seen);

// status.controlledResources of the plugins, added to what else is there or taken out of it.
void mark_plugins(const Observed& seen, Status& status);
void unmark_plugins(Status& status);

}  // namespace krater::controllers::vcjob
