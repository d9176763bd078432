#include "controllers/ray/ray_container.h"

#include "base/strings.h"
#include "controllers/ray/start_params.h"
#include "controllers/ray/versions.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

JsonArray& array_in(Json& object, std::string_view key) {
  Json& slot = object.get_object()[key];
  if (!slot.is_array()) slot.emplace_array();
  return slot.get_array();
}

bool has_named(const Json& object, std::string_view list, std::string_view member,
               std::string_view wanted) {
  const JsonArray* entries = array_at(object, {list});
  if (entries == nullptr) return false;
  for (const Json& entry : *entries) {
    if (string_at(entry, {member}) == wanted) return true;
  }
  return false;
}

std::string param_or(const Labels& params, std::string_view key, std::string_view fallback) {
  const auto place = params.find(key);
  return place == params.end() ? std::string(fallback) : place->second;
}

std::string wget_check(int timeout_s, const std::string& port, std::string_view path) {
  return "wget --tries 1 -T " + std::to_string(timeout_s) + " -q -O- http://localhost:" + port +
         "/" + std::string(path) + " | grep success";
}

Json health_action(const PodContext& context, const RayGroupSpec& group, const Labels& params) {
  const std::string agent_port = param_or(params, "dashboard-agent-listen-port", kAgentPort);
  const auto port_number = parse_int(agent_port);
  if (port_number && at_least(context.spec.ray_version(), {2, 53, 0})) {
    return JsonObject{{"httpGet", JsonObject{{"path", "/api/healthz"}, {"port", *port_number}}}};
  }
  std::string check = wget_check(2, agent_port, "api/local_raylet_healthz");
  if (group.is_head()) {
    check += " && " +
             wget_check(10, param_or(params, "dashboard-port", kDashboardPort), "api/gcs_healthz");
  }
  return JsonObject{{"exec", JsonObject{{"command", JsonArray{"bash", "-c", Json(check)}}}}};
}

Json probe(Json action, int initial_delay_s, int timeout_s, int failures) {
  JsonObject& out = action.get_object();
  out["initialDelaySeconds"] = initial_delay_s;
  out["timeoutSeconds"] = timeout_s;
  out["periodSeconds"] = 5;
  out["successThreshold"] = 1;
  out["failureThreshold"] = failures;
  return action;
}

}  // namespace

void add_env(Json& container, std::string_view name, std::string_view value, bool if_absent) {
  if (if_absent && has_named(container, "env", "name", name)) return;
  array_in(container, "env").push_back(JsonObject{{"name", name}, {"value", value}});
}

void add_env_field(Json& container, std::string_view name, std::string_view field_path) {
  array_in(container, "env")
      .push_back(JsonObject{
          {"name", name},
          {"valueFrom", JsonObject{{"fieldRef", JsonObject{{"fieldPath", field_path}}}}}});
}

void add_head_address_env(Json& container, const PodContext& context) {
  const std::string fqdn = context.head_fqdn();
  add_env(container, "FQ_RAY_IP", fqdn);
  add_env(container, "RAY_IP", fqdn.substr(0, fqdn.find('.')));
}

void wrap_command(Json& container, const std::string& ray_start, bool overwrite) {
  std::string user;
  for (const std::string_view list : {"command", "args"}) {
    const JsonArray* words = array_at(container, {list});
    if (words == nullptr) continue;
    for (const Json& word : *words) {
      if (word.is_string()) user += " " + std::string(view(word.get_string())) + " ";
    }
  }
  if (overwrite || user.find("ray start") != std::string::npos) return;
  const std::string generated = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; " + ray_start;
  container.get_object()["command"] = JsonArray{"/bin/bash", "-c", "--"};
  container.get_object()["args"] =
      JsonArray{Json(user.empty() ? generated : user + " && " + generated)};
}

void add_ray_env(Json& container, const PodContext& context, const RayGroupSpec& group,
                 const std::string& ray_start) {
  if (!group.is_head()) add_head_address_env(container, context);
  add_env_field(container, "RAY_CLUSTER_NAME", "metadata.labels['ray.io/cluster']");
  add_env_field(container, "RAY_CLUSTER_NAMESPACE", "metadata.namespace");
  add_env_field(container, "RAY_CLOUD_INSTANCE_ID", "metadata.name");
  add_env_field(container, "RAY_NODE_TYPE_NAME", "metadata.labels['ray.io/group']");
  add_env(container, "KUBERAY_GEN_RAY_START_CMD", ray_start);
  const std::string port = gcs_port(context.spec);
  add_env(container, "RAY_PORT", port, true);
  add_env(container, "RAY_ADDRESS", group.is_head() ? "127.0.0.1:" + port : context.gcs_address(),
          true);
  add_env(container, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1", true);
  if (group.is_head()) {
    add_env(container, "RAY_USAGE_STATS_EXTRA_TAGS",
            "kuberay_version=" + context.version + ";kuberay_crd=" + context.origin_kind);
  }
  add_env(container, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1", true);
}

void add_probes(Json& container, const PodContext& context, const RayGroupSpec& group,
                const Labels& params) {
  const int timeout_s = group.is_head() ? 5 : 2;
  JsonObject& out = container.get_object();
  if (!out.contains("livenessProbe"))
    out["livenessProbe"] = probe(health_action(context, group, params), 30, timeout_s, 120);
  if (!out.contains("readinessProbe"))
    out["readinessProbe"] = probe(health_action(context, group, params), 10, timeout_s, 10);
}

void add_shared_memory(Json& pod_spec, const Labels& params) {
  Json& container = array_in(pod_spec, "containers").front();
  if (params.contains("plasma-directory") ||
      has_named(container, "volumeMounts", "mountPath", "/dev/shm"))
    return;
  JsonObject memory{{"medium", "Memory"}};
  for (const std::string_view list : {"limits", "requests"}) {
    const Json* size = find(container, {"resources", list, "memory"});
    if (size == nullptr) continue;
    memory["sizeLimit"] = *size;
    break;
  }
  array_in(pod_spec, "volumes")
      .push_back(JsonObject{{"name", "shared-mem"}, {"emptyDir", std::move(memory)}});
  array_in(container, "volumeMounts")
      .push_back(JsonObject{{"name", "shared-mem"}, {"mountPath", "/dev/shm"}});
}

Json wait_gcs_ready_container(const PodContext& context, const Json& ray_container) {
  const std::string address = context.gcs_address();
  // Failures are normal while the head starts, so they are only shown once that takes long.
  const std::string script =
      "SECONDS=0\n"
      "while :; do\n"
      "  if answer=\"$(ray health-check --address " +
      address +
      " 2>&1)\"; then\n"
      "    echo \"GCS at " +
      address +
      " answers after ${SECONDS}s\"; exit 0\n"
      "  fi\n"
      "  if [ \"$SECONDS\" -ge 120 ]; then\n"
      "    echo \"GCS at " +
      address +
      " does not answer after ${SECONDS}s: $answer\"\n"
      "  fi\n"
      "  sleep 5\n"
      "done\n";
  Json out{{"name", "wait-gcs-ready"}};
  JsonObject& object = out.get_object();
  for (const std::string_view key :
       {"image", "imagePullPolicy", "securityContext", "env", "volumeMounts"}) {
    if (const Json* value = find(ray_container, {key})) object[key] = *value;
  }
  object["command"] = JsonArray{"/bin/bash", "-c", "--"};
  object["args"] = JsonArray{Json(script)};
  const JsonObject amounts{{"cpu", "200m"}, {"memory", "256Mi"}};
  object["resources"] = JsonObject{{"limits", amounts}, {"requests", amounts}};
  return out;
}

}  // namespace krater::controllers
