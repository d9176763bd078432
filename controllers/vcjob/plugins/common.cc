// What several plugins need.
#include <algorithm>

#include "controllers/vcjob/plugins/plugin.h"

namespace krater::controllers::vcjob {
namespace {

std::string of_template(const VolcanoTask& task, std::string_view field) {
  return task.pod_template == nullptr ? std::string()
                                      : text_at(*task.pod_template, {"spec", field});
}

bool has_port(const Json& container, std::int64_t port) {
  const JsonArray* ports = array_at(container, {"ports"});
  return ports != nullptr && std::any_of(ports->begin(), ports->end(), [&](const Json& one) {
           return int_at(one, {"containerPort"}) == port;
         });
}

}  // namespace

std::string host_of(const VolcanoJobView& job, const VolcanoTask& task, std::int64_t index) {
  std::string host = of_template(task, "hostname");
  std::string domain = of_template(task, "subdomain");
  if (host.empty()) host = volcano_pod_name(job->name(), task.name, index);
  if (domain.empty()) domain = job->name();
  return host + "." + domain;
}

std::int64_t host_count(const VolcanoTask& task) {
  return of_template(task, "hostname").empty() ? task.replicas
                                               : std::min<std::int64_t>(task.replicas, 1);
}

std::vector<std::string> hosts_of(const VolcanoJobView& job, const VolcanoTask& task,
                                  std::size_t too_much) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < host_count(task) && bytes <= too_much; ++i) {
    out.push_back(host_of(job, task, i));
    bytes += out.back().size() + 1;
  }
  return out;
}

Json variable(std::string_view name, std::string_view value) {
  return JsonObject{{"name", name}, {"value", value}};
}

void open_port(Json& pod, std::string_view containers, std::string_view name, std::int64_t port) {
  Json* list = find(pod, {"spec", containers});
  if (list == nullptr || !list->is_array()) return;
  JsonArray& all = list->get_array();
  const bool once = bool_at(pod, {"spec", "hostNetwork"}).value_or(false);
  if (once && std::ranges::any_of(all, [&](const Json& one) { return has_port(one, port); }))
    return;
  for (Json& container : all) {
    if (!container.is_object() || has_port(container, port)) continue;
    Json& ports = container.get_object()["ports"];
    if (!ports.is_array()) ports.emplace_array();
    ports.get_array().push_back(JsonObject{{"name", name}, {"containerPort", port}});
    if (once) return;
  }
}

}  // namespace krater::controllers::vcjob
