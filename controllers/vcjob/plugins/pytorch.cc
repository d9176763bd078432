// pytorch: what torch.distributed reads: where the master is, how many there are, which one this
// is.
#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"

namespace krater::controllers::vcjob {
namespace {

constexpr std::string_view kWait = "wait-for-master";

// Ends when the master listens, or fails when it does not in time.
std::string wait_script(const std::string& host, std::int64_t port, std::int64_t seconds) {
  const std::string place = host + " " + std::to_string(port);
  return "echo 'waiting for " + place + "'\nleft=" + std::to_string(seconds) +
         "\nwhile ! { nc -z " + place + " || : > /dev/tcp/" + host + "/" + std::to_string(port) +
         "; } 2>/dev/null; do\n  if [ \"$left\" -le 0 ]; then echo 'no master'; exit 1; fi\n"
         "  left=$((left - 2))\n  sleep 2\ndone\n";
}

void add_wait(const Arguments& arguments, const std::string& host, std::int64_t port, Json& pod) {
  if (!arguments.flag("wait-master-enabled", false)) return;
  Json* inits = find(pod, {"spec", "initContainers"});
  if (inits == nullptr || !inits->is_array()) {
    set_path(pod, {"spec", "initContainers"}, JsonArray());
    inits = find(pod, {"spec", "initContainers"});
  }
  for (const Json& container : inits->get_array()) {
    if (string_at(container, {"name"}) == kWait) return;
  }
  const std::string script = wait_script(host, port, arguments.number("wait-master-timeout", 300));
  JsonObject container;
  container["name"] = kWait;
  container["image"] = arguments.text("wait-master-image", "busybox:1.36.1");
  container["command"] = JsonArray{Json("sh"), Json("-c"), Json(script)};
  inits->get_array().push_back(std::move(container));
}

}  // namespace

void pytorch_pod(const PodInput& in, Json& pod) {
  const Arguments arguments(in.plugin.arguments, {"wait-master-enabled"});
  const Observed& seen = in.plugin.seen;
  const std::string master_name = arguments.text("master", "master");
  const std::string worker_name = arguments.text("worker", "worker");
  const VolcanoTask* master = seen.task(master_name);
  if (master == nullptr) return;
  const VolcanoTask* workers = seen.task(worker_name);
  const std::int64_t port = arguments.number("port", 23456);
  const std::string host = host_of(seen.job, *master, 0);
  std::int64_t world = master->replicas;
  if (workers != nullptr && workers != master) world += workers->replicas;
  const bool is_worker = in.task.name == worker_name;
  if (is_worker) add_wait(arguments, host, port, pod);
  open_port(pod, "containers", "pytorchjob-port", port);
  JsonArray variables{variable("MASTER_ADDR", host), variable("MASTER_PORT", std::to_string(port)),
                      variable("WORLD_SIZE", std::to_string(world))};
  if (is_worker) {
    variables.push_back(variable("RANK", std::to_string(in.index + 1)));
  } else if (in.task.name == master_name) {
    variables.push_back(variable("RANK", "0"));
  }
  append_to_containers(pod, "containers", "env", variables);
}

}  // namespace krater::controllers::vcjob
