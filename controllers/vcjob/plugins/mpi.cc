// mpi: the master knows its workers' hosts; ssh's port is open everywhere.
#include "base/strings.h"
#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"

namespace krater::controllers::vcjob {

void mpi_pod(const PodInput& in, Json& pod) {
  const Arguments arguments(in.plugin.arguments);
  const bool master = in.task.name == arguments.text("master", "master");
  const VolcanoTask* workers = in.plugin.seen.task(arguments.text("worker", "worker"));
  if (master && workers == nullptr) return;
  for (const std::string_view list : {"containers", "initContainers"}) {
    open_port(pod, list, "mpijob-port", arguments.number("port", 22));
    if (!master) continue;
    const std::string hosts =
        join(hosts_of(in.plugin.seen.job, *workers, kTooMuchForAVariable), ",");
    append_to_containers(pod, list, "env", {variable("MPI_HOST", hosts)});
  }
}

}  // namespace krater::controllers::vcjob
