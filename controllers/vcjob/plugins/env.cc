// env: every container knows its pod's place in the task.
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"

namespace krater::controllers::vcjob {

void env_pod(const PodInput& in, Json& pod) {
  const std::string index = std::to_string(in.index);
  const JsonArray variables{variable("VK_TASK_INDEX", index), variable("VC_TASK_INDEX", index)};
  for (const std::string_view list : {"containers", "initContainers"})
    append_to_containers(pod, list, "env", variables);
}

}  // namespace krater::controllers::vcjob
