// ray: a Ray cluster of head and workers, and a Service in front of the head.
#include <array>

#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

struct Ports {
  std::int64_t gcs, dashboard, client;
  explicit Ports(const Arguments& arguments)
      : gcs(arguments.number("port", 6379)),
        dashboard(arguments.number("dashboardPort", 8265)),
        client(arguments.number("clientPort", 10001)) {}
  std::array<std::pair<std::string_view, std::int64_t>, 3> named() const {
    return {{{"gcs", gcs}, {"dashboard", dashboard}, {"client-server", client}}};
  }
};

Json* container_of(Json& pod, const std::string& name) {
  Json* list = find(pod, {"spec", "containers"});
  if (list == nullptr || !list->is_array()) return nullptr;
  for (Json& container : list->get_array()) {
    if (text_at(container, {"name"}) == name) return &container;
  }
  return nullptr;
}

void start_with(Json& container, const std::string& command) {
  set_path(container, {"command"}, JsonArray{Json("sh"), Json("-c"), Json(command)});
}

// Only the head's own container is reached from outside.
void open_ports(Json& container, const Ports& ports) {
  Json alone(boost::json::object_kind);
  set_path(alone, {"spec", "containers"}, JsonArray{container});
  for (const auto& [name, port] : ports.named()) open_port(alone, "containers", name, port);
  container = find(alone, {"spec", "containers"})->get_array().front();
}

}  // namespace

void ray_pod(const PodInput& in, Json& pod) {
  const Arguments arguments(in.plugin.arguments);
  const Ports ports(arguments);
  const VolcanoTask* head = in.plugin.seen.task(arguments.text("head", "head"));
  if (head == nullptr) return;
  if (&in.task == head || in.task.name == head->name) {
    if (Json* container = container_of(pod, arguments.text("headContainer", "head"))) {
      open_ports(*container, ports);
      start_with(*container, "ray start --head --block --dashboard-host=0.0.0.0 --port=" +
                                 std::to_string(ports.gcs) +
                                 " --dashboard-port=" + std::to_string(ports.dashboard) +
                                 " --ray-client-server-port=" + std::to_string(ports.client));
    }
  } else if (in.task.name == arguments.text("worker", "worker")) {
    if (Json* container = container_of(pod, arguments.text("workerContainer", "worker"))) {
      start_with(*container,
                 "ray start --block --address=" + host_of(in.plugin.seen.job, *head, 0) + ":" +
                     std::to_string(ports.gcs));
    }
  }
}

std::vector<PluginObject> ray_objects(const PluginInput& in) {
  const VolcanoJobView& job = in.seen.job;
  const Arguments arguments(in.arguments);
  Json service(boost::json::object_kind);
  set_path(service, {"spec", "selector"},
           JsonObject{{keys::kVolcanoJobName, job->name()},
                      {keys::kVolcanoJobNamespace, job->name_space()},
                      {keys::kTaskSpec, arguments.text("head", "head")}});
  JsonArray list;
  const Ports ports(arguments);
  for (const auto& [name, port] : ports.named()) {
    list.push_back(
        JsonObject{{"name", name}, {"port", port}, {"protocol", "TCP"}, {"targetPort", name}});
  }
  set_path(service, {"spec", "ports"}, std::move(list));
  return {{kinds::kService, job->name() + "-head-svc", std::move(service)}};
}

}  // namespace krater::controllers::vcjob
