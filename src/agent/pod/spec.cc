#include "agent/pod/spec.h"

#include "base/strings.h"

namespace krater::agent {
namespace {

std::vector<std::string> strings(const Json& json, JsonPath path) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(json, path)) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

// A port is a number, or the name of one of the container's ports.
int resolve_port(const Json* port, const Json& container) {
  if (port == nullptr) return 0;
  if (const auto number = as_int(*port)) return static_cast<int>(*number);
  if (!port->is_string()) return 0;
  const std::string_view name = view(port->get_string());
  if (const auto number = parse_int(name)) return static_cast<int>(*number);
  const JsonArray* ports = array_at(container, {"ports"});
  if (ports == nullptr) return 0;
  for (const Json& candidate : *ports) {
    if (text_at(candidate, {"name"}) == name)
      return static_cast<int>(int_at(candidate, {"containerPort"}).value_or(0));
  }
  return 0;
}

ActionSpec read_action(const Json& json, const Json& container) {
  ActionSpec out;
  if (find(json, {"exec"}) != nullptr) {
    out.kind = ActionSpec::Kind::Exec;
    out.command = strings(json, {"exec", "command"});
  } else if (const Json* http = find(json, {"httpGet"})) {
    out.kind = ActionSpec::Kind::Http;
    out.scheme = to_lower(string_at(*http, {"scheme"}).value_or("http"));
    out.host = text_at(*http, {"host"});
    out.port = resolve_port(find(*http, {"port"}), container);
    out.path = string_at(*http, {"path"}).value_or("/");
    if (out.path.empty() || out.path.front() != '/') out.path.insert(0, "/");
    if (const JsonArray* headers = array_at(*http, {"httpHeaders"})) {
      for (const Json& header : *headers)
        out.headers.emplace_back(text_at(header, {"name"}), text_at(header, {"value"}));
    }
  } else if (const Json* tcp = find(json, {"tcpSocket"})) {
    out.kind = ActionSpec::Kind::Tcp;
    out.host = text_at(*tcp, {"host"});
    out.port = resolve_port(find(*tcp, {"port"}), container);
  } else if (const Json* grpc = find(json, {"grpc"})) {
    out.kind = ActionSpec::Kind::Grpc;
    out.port = resolve_port(find(*grpc, {"port"}), container);
    out.service = text_at(*grpc, {"service"});
  } else if (const auto seconds = int_at(json, {"sleep", "seconds"})) {
    out.kind = ActionSpec::Kind::Sleep;
    out.seconds = static_cast<int>(*seconds);
  }
  return out;
}

std::optional<ProbeSpec> read_probe(const Json& container, std::string_view field) {
  const Json* json = find(container, {field});
  if (json == nullptr || !json->is_object()) return std::nullopt;
  ProbeSpec out;
  out.action = read_action(*json, container);
  const auto number = [&](std::string_view name, int fallback) {
    const auto value = int_at(*json, {name});
    return value && *value > 0 ? static_cast<int>(*value) : fallback;
  };
  out.initial_delay_seconds = number("initialDelaySeconds", 0);
  out.period_seconds = number("periodSeconds", 10);
  out.timeout_seconds = number("timeoutSeconds", 1);
  out.success_threshold = number("successThreshold", 1);
  out.failure_threshold = number("failureThreshold", 3);
  out.grace_seconds = int_at(*json, {"terminationGracePeriodSeconds"});
  return out;
}

std::optional<ActionSpec> read_hook(const Json& container, std::string_view name) {
  const Json* json = find(container, {"lifecycle", name});
  if (json == nullptr || !json->is_object()) return std::nullopt;
  ActionSpec out = read_action(*json, container);
  out.hook = true;
  return out;
}

ContainerSpec read_container(const Json& json, Role role) {
  ContainerSpec out;
  out.name = text_at(json, {"name"});
  out.image = text_at(json, {"image"});
  out.working_dir = text_at(json, {"workingDir"});
  out.role = role;
  out.command = strings(json, {"command"});
  out.args = strings(json, {"args"});
  if (const auto path = string_at(json, {"terminationMessagePath"}); path && !path->empty())
    out.termination_path = *path;
  out.log_as_message_on_error =
      text_at(json, {"terminationMessagePolicy"}) == "FallbackToLogsOnError";
  out.startup = read_probe(json, "startupProbe");
  out.readiness = read_probe(json, "readinessProbe");
  out.liveness = read_probe(json, "livenessProbe");
  out.post_start = read_hook(json, "postStart");
  out.pre_stop = read_hook(json, "preStop");
  out.document = json;
  return out;
}

RestartPolicy read_policy(std::string_view text) {
  if (text == "Never") return RestartPolicy::Never;
  if (text == "OnFailure") return RestartPolicy::OnFailure;
  return RestartPolicy::Always;
}

}  // namespace

const ContainerSpec* PodSpec::container(std::string_view wanted) const {
  for (const ContainerSpec& candidate : containers) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

std::vector<std::string> ContainerSpec::command_line() const {
  std::vector<std::string> out = command;
  out.insert(out.end(), args.begin(), args.end());
  return out;
}

PodSpec read_pod_spec(const Json& document) {
  PodSpec out;
  out.uid = text_at(document, {"metadata", "uid"});
  out.name = text_at(document, {"metadata", "name"});
  out.name_space = text_at(document, {"metadata", "namespace"});
  out.document = document;
  const Json* spec = find(document, {"spec"});
  if (spec == nullptr) return out;
  out.node = text_at(*spec, {"nodeName"});
  out.hostname = text_at(*spec, {"hostname"});
  out.subdomain = text_at(*spec, {"subdomain"});
  out.service_account = text_at(*spec, {"serviceAccountName"});
  if (const auto policy = string_at(*spec, {"dnsPolicy"})) out.dns_policy = *policy;
  out.host_network = bool_at(*spec, {"hostNetwork"}).value_or(false);
  out.host_pid = bool_at(*spec, {"hostPID"}).value_or(false);
  out.share_processes = bool_at(*spec, {"shareProcessNamespace"}).value_or(false);
  out.service_links = bool_at(*spec, {"enableServiceLinks"}).value_or(true);
  out.set_fqdn = bool_at(*spec, {"setHostnameAsFQDN"}).value_or(false);
  out.restart_policy = read_policy(text_at(*spec, {"restartPolicy"}));
  out.grace_seconds = int_at(*spec, {"terminationGracePeriodSeconds"}).value_or(30);
  out.active_deadline_seconds = int_at(*spec, {"activeDeadlineSeconds"});
  if (const JsonArray* list = array_at(*spec, {"initContainers"})) {
    for (const Json& one : *list) {
      out.containers.push_back(read_container(
          one, text_at(one, {"restartPolicy"}) == "Always" ? Role::Sidecar : Role::Init));
    }
  }
  if (const JsonArray* list = array_at(*spec, {"containers"})) {
    for (const Json& one : *list) out.containers.push_back(read_container(one, Role::Main));
  }
  return out;
}

}  // namespace krater::agent
