// tensorflow: TF_CONFIG, the whole cluster and this pod's place in it.
#include <array>

#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"

namespace krater::controllers::vcjob {
namespace {

constexpr std::array<std::string_view, 4> kRoles{"ps", "worker", "chief", "evaluator"};

JsonArray addresses(const VolcanoJobView& job, const VolcanoTask& task, std::int64_t port) {
  JsonArray out;
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < task.replicas && bytes <= kTooMuchForAVariable; ++i) {
    std::string address = host_of(job, task, i) + ":" + std::to_string(port);
    bytes += address.size();
    out.push_back(Json(std::move(address)));
  }
  return out;
}

}  // namespace

void tensorflow_pod(const PodInput& in, Json& pod) {
  const Observed& seen = in.plugin.seen;
  if (seen.tasks.size() == 1 && seen.tasks[0].replicas == 1) return;  // it stands alone
  const Arguments arguments(in.plugin.arguments);
  const std::int64_t port = arguments.number("port", 2222);
  JsonObject cluster;
  std::string role = in.task.name;
  for (const std::string_view known : kRoles) {
    const std::string name = arguments.text(known, known);
    if (name == in.task.name) role = known;
    const VolcanoTask* task = seen.task(name);
    if (task != nullptr && task->replicas > 0) cluster[known] = addresses(seen.job, *task, port);
  }
  JsonObject config;
  config["cluster"] = std::move(cluster);
  config["task"] = JsonObject{{"type", role}, {"index", in.index}};
  append_to_containers(pod, "containers", "env",
                       {variable("TF_CONFIG", to_json(Json(std::move(config))))});
}

}  // namespace krater::controllers::vcjob
