// svc: the pods of a job find each other by name. A headless Service gives "<pod>.<job>" an
// address; a ConfigMap lists the hosts of every task, as files in /etc/volcano and as variables; a
// NetworkPolicy lets only the job's own pods in.
#include <algorithm>

#include "base/strings.h"
#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/plugins/plugins.h"
#include "controllers/vcjob/pod_builder.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {

const Kind kNetworkPolicy{"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", true};

namespace {

Arguments arguments_of(const PluginInput& in) {
  return Arguments(in.arguments,
                   {"publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"});
}

std::string config_name(const VolcanoJobView& job) {
  return job->name() + "-svc";
}

// "ps-node" -> "ps_node"
std::string variable_stem(const std::string& task) {
  std::string out = task;
  std::ranges::replace(out, '-', '_');
  return out;
}

std::string to_upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string hosts_variable(const std::string& task) {
  return "VC_" + to_upper(variable_stem(task)) + "_HOSTS";
}
std::string count_variable(const std::string& task) {
  return "VC_" + to_upper(variable_stem(task)) + "_NUM";
}

Json host_files(const Observed& seen) {
  JsonObject out;
  for (const VolcanoTask& task : seen.tasks) {
    const std::vector<std::string> hosts = hosts_of(seen.job, task, kTooMuchForAnObject);
    out[variable_stem(task.name) + ".host"] = join(hosts, "\n");
    out[hosts_variable(task.name)] = join(hosts, ",");
    out[count_variable(task.name)] = std::to_string(host_count(task));
  }
  return out;
}

JsonArray host_variables(const Observed& seen) {
  JsonArray out;
  for (const VolcanoTask& task : seen.tasks) {
    for (const std::string& name : {hosts_variable(task.name), count_variable(task.name)}) {
      Json one(boost::json::object_kind);
      set_path(one, {"name"}, Json(name));
      set_path(one, {"valueFrom", "configMapKeyRef", "name"}, Json(config_name(seen.job)));
      set_path(one, {"valueFrom", "configMapKeyRef", "key"}, Json(name));
      out.push_back(std::move(one));
    }
  }
  return out;
}

Json pods_of(const VolcanoJobView& job) {
  return JsonObject{{keys::kVolcanoJobName, job->name()},
                    {keys::kVolcanoJobNamespace, job->name_space()}};
}

void fill_if_empty(Json& pod, std::string_view field, const std::string& value) {
  if (text_at(pod, {"spec", field}).empty()) set_path(pod, {"spec", field}, Json(value));
}

}  // namespace

void svc_pod(const PodInput& in, Json& pod) {
  const VolcanoJobView& job = in.plugin.seen.job;
  fill_if_empty(pod, "hostname", volcano_pod_name(job->name(), in.task.name, in.index));
  fill_if_empty(pod, "subdomain", job->name());
  const JsonArray variables = host_variables(in.plugin.seen);
  const JsonArray mounts{JsonObject{{"mountPath", "/etc/volcano"}, {"name", config_name(job)}}};
  const bool inject = arguments_of(in.plugin).flag("inject-hosts-env", true);
  for (const std::string_view list : {"containers", "initContainers"}) {
    if (inject) append_to_containers(pod, list, "env", variables);
    append_to_containers(pod, list, "volumeMounts", mounts);
  }
  if (array_at(pod, {"spec", "volumes"}) == nullptr)
    set_path(pod, {"spec", "volumes"}, JsonArray());
  Json volume(boost::json::object_kind);
  set_path(volume, {"name"}, Json(config_name(job)));
  set_path(volume, {"configMap", "name"}, Json(config_name(job)));
  find(pod, {"spec", "volumes"})->get_array().push_back(std::move(volume));
}

std::vector<PluginObject> svc_objects(const PluginInput& in) {
  const VolcanoJobView& job = in.seen.job;
  const Arguments arguments = arguments_of(in);
  std::vector<PluginObject> out;
  Json config(boost::json::object_kind);
  set_path(config, {"data"}, host_files(in.seen));
  out.push_back({kinds::kConfigMap, config_name(job), std::move(config), true});

  Json service(boost::json::object_kind);
  set_path(service, {"spec", "clusterIP"}, "None");
  set_path(service, {"spec", "selector"}, pods_of(job));
  if (arguments.flag("publish-not-ready-addresses", false))
    set_path(service, {"spec", "publishNotReadyAddresses"}, true);
  out.push_back({kinds::kService, job->name(), std::move(service)});

  if (arguments.flag("disable-network-policy", false) || !in.seen.served(kNetworkPolicy))
    return out;
  Json policy(boost::json::object_kind);
  set_path(policy, {"spec", "podSelector", "matchLabels"}, pods_of(job));
  Json peer(boost::json::object_kind);
  set_path(peer, {"podSelector", "matchLabels"}, pods_of(job));
  Json rule(boost::json::object_kind);
  set_path(rule, {"from"}, JsonArray{std::move(peer)});
  set_path(policy, {"spec", "ingress"}, JsonArray{std::move(rule)});
  set_path(policy, {"spec", "policyTypes"}, JsonArray{Json("Ingress")});
  out.push_back({kNetworkPolicy, job->name(), std::move(policy)});
  return out;
}

}  // namespace krater::controllers::vcjob
