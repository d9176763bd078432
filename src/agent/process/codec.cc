#include "agent/process/codec.h"

#include <array>

namespace krater::agent {
namespace {

std::string text(const Json& json, std::string_view key) {
  return text_at(json, {key});
}
std::int64_t number(const Json& json, std::string_view key) {
  return int_at(json, {key}).value_or(0);
}
bool flag(const Json& json, std::string_view key) {
  return bool_at(json, {key}).value_or(false);
}

JsonArray string_list(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& one : list) out.emplace_back(one);
  return out;
}

std::vector<std::string> string_list(const Json& json, std::string_view key) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(json, {key})) {
    for (const Json& one : *list) {
      if (one.is_string()) out.emplace_back(view(one.get_string()));
    }
  }
  return out;
}

struct CodeName {
  Code code;
  std::string_view name;
};
// The codes that cross this border; others arrive as Internal.
constexpr std::array<CodeName, 5> kCodes{
    CodeName{Code::BadRequest, "BadRequest"}, CodeName{Code::NotFound, "NotFound"},
    CodeName{Code::Invalid, "Invalid"}, CodeName{Code::Unavailable, "Unavailable"},
    CodeName{Code::Internal, "Internal"}};

WallTime time_of(const Json& json, std::string_view key) {
  return WallTime(number(json, key));
}

}  // namespace

Json to_json_value(const ShimConfig& config) {
  const SandboxSpec& s = config.sandbox;
  JsonObject out;
  out["uid"] = s.uid;
  out["name"] = s.name;
  out["namespace"] = s.name_space;
  out["hostname"] = s.hostname;
  out["hostNetwork"] = s.host_network;
  out["hostPID"] = s.host_pid;
  out["shareProcesses"] = s.share_processes;
  out["hostsExtra"] = s.hosts_extra;
  out["resolvConf"] = s.resolv_conf;
  out["fqdn"] = s.fqdn;
  out["shmBytes"] = s.shm_bytes;
  JsonArray volumes, ports;
  for (const MemoryVolume& one : s.memory_volumes)
    volumes.push_back(Json{{"path", one.path}, {"bytes", one.bytes}});
  out["memoryVolumes"] = std::move(volumes);
  for (const PortMapping& one : s.ports) {
    ports.push_back(Json{{"hostPort", one.host_port},
                         {"containerPort", one.container_port},
                         {"protocol", one.protocol},
                         {"hostIP", one.host_ip}});
  }
  out["ports"] = std::move(ports);
  out["isolate"] = config.isolate;
  out["cniBinDir"] = config.cni_bin_dir;
  out["cniConfig"] = config.cni_config;
  out["hidden"] = string_list(config.hidden);
  out["cgroupParent"] = config.cgroup_parent;
  out["logBytes"] = config.log_bytes;
  out["logFiles"] = config.log_files;
  return Json(std::move(out));
}

Result<ShimConfig> shim_config(const Json& json) {
  ShimConfig out;
  SandboxSpec& s = out.sandbox;
  s.uid = text(json, "uid");
  if (s.uid.empty()) return make_error(Code::Invalid, "sandbox.json names no uid");
  s.name = text(json, "name");
  s.name_space = text(json, "namespace");
  s.hostname = text(json, "hostname");
  s.host_network = flag(json, "hostNetwork");
  s.host_pid = flag(json, "hostPID");
  s.share_processes = flag(json, "shareProcesses");
  s.hosts_extra = text(json, "hostsExtra");
  s.resolv_conf = text(json, "resolvConf");
  s.fqdn = text(json, "fqdn");
  s.shm_bytes = number(json, "shmBytes");
  if (const JsonArray* list = array_at(json, {"memoryVolumes"})) {
    for (const Json& one : *list)
      s.memory_volumes.push_back({text(one, "path"), number(one, "bytes")});
  }
  if (const JsonArray* list = array_at(json, {"ports"})) {
    for (const Json& one : *list) {
      s.ports.push_back({static_cast<int>(number(one, "hostPort")),
                         static_cast<int>(number(one, "containerPort")), text(one, "protocol"),
                         text(one, "hostIP")});
    }
  }
  out.isolate = flag(json, "isolate");
  out.cni_bin_dir = text(json, "cniBinDir");
  out.cni_config = text(json, "cniConfig");
  out.hidden = string_list(json, "hidden");
  out.cgroup_parent = text(json, "cgroupParent");
  out.log_bytes = number(json, "logBytes");
  out.log_files = static_cast<int>(number(json, "logFiles"));
  return out;
}

Json to_json_value(const ExitInfo& exit) {
  return Json{{"code", exit.code},
              {"signal", exit.signal},
              {"reason", exit.reason},
              {"message", exit.message},
              {"started", exit.started.unix_nanos()},
              {"finished", exit.finished.unix_nanos()},
              {"id", exit.container_id}};
}

ExitInfo exit_info(const Json& json) {
  ExitInfo out;
  out.code = static_cast<int>(number(json, "code"));
  out.signal = static_cast<int>(number(json, "signal"));
  out.reason = text(json, "reason");
  out.message = text(json, "message");
  out.started = time_of(json, "started");
  out.finished = time_of(json, "finished");
  out.container_id = text(json, "id");
  return out;
}

Json to_json_value(const ContainerRun& run, const Image& image) {
  JsonObject out;
  out["name"] = run.name;
  out["image"] = run.image;
  out["attempt"] = run.attempt;
  out["argv"] = string_list(run.argv);
  JsonArray env, mounts, groups;
  for (const auto& [key, value] : run.env) env.push_back(Json(JsonArray{key, value}));
  for (const Mount& one : run.mounts)
    mounts.push_back(Json{{"source", one.source},
                          {"target", one.target},
                          {"readOnly", one.read_only},
                          {"within", one.within}});
  for (const std::int64_t one : run.groups) groups.emplace_back(one);
  out["env"] = std::move(env);
  out["mounts"] = std::move(mounts);
  out["groups"] = std::move(groups);
  out["workingDir"] = run.working_dir;
  out["terminationPath"] = run.termination_path;
  out["logAsMessage"] = run.log_as_message_on_error;
  out["readOnlyRoot"] = run.read_only_root;
  out["privileged"] = run.privileged;
  out["noNewPrivileges"] = run.no_new_privileges;
  out["addCapabilities"] = string_list(run.add_capabilities);
  out["dropCapabilities"] = string_list(run.drop_capabilities);
  if (run.user) out["user"] = *run.user;
  if (run.group) out["group"] = *run.group;
  out["memory"] = run.memory_limit_bytes;
  out["cpuLimit"] = run.cpu_limit_milli;
  out["cpuRequest"] = run.cpu_request_milli;
  out["imagePath"] = image.path;
  out["imageVenv"] = image.venv;
  out["imageRootfs"] = image.rootfs;
  return Json(std::move(out));
}

ContainerRun container_run(const Json& json) {
  ContainerRun out;
  out.name = text(json, "name");
  out.image = text(json, "image");
  out.attempt = static_cast<int>(number(json, "attempt"));
  out.argv = string_list(json, "argv");
  if (const JsonArray* list = array_at(json, {"env"})) {
    for (const Json& one : *list) {
      const JsonArray& pair = one.as_array();
      out.env.emplace_back(view(pair.at(0).as_string()), view(pair.at(1).as_string()));
    }
  }
  if (const JsonArray* list = array_at(json, {"mounts"})) {
    for (const Json& one : *list)
      out.mounts.push_back(
          {text(one, "source"), text(one, "target"), flag(one, "readOnly"), text(one, "within")});
  }
  if (const JsonArray* list = array_at(json, {"groups"})) {
    for (const Json& one : *list) out.groups.push_back(as_int(one).value_or(0));
  }
  out.working_dir = text(json, "workingDir");
  out.termination_path = text(json, "terminationPath");
  out.log_as_message_on_error = flag(json, "logAsMessage");
  out.read_only_root = flag(json, "readOnlyRoot");
  out.privileged = flag(json, "privileged");
  out.no_new_privileges = flag(json, "noNewPrivileges");
  out.add_capabilities = string_list(json, "addCapabilities");
  out.drop_capabilities = string_list(json, "dropCapabilities");
  out.user = int_at(json, {"user"});
  out.group = int_at(json, {"group"});
  out.memory_limit_bytes = number(json, "memory");
  out.cpu_limit_milli = number(json, "cpuLimit");
  out.cpu_request_milli = number(json, "cpuRequest");
  return out;
}

Image run_image(const Json& json) {
  return {text(json, "imagePath"), flag(json, "imageVenv"), text(json, "imageRootfs")};
}

Json to_json_value(const RunningContainer& container) {
  JsonObject out;
  out["name"] = container.name;
  out["attempt"] = container.attempt;
  out["id"] = container.container_id;
  out["started"] = container.started_at.unix_nanos();
  if (container.exit) out["exit"] = to_json_value(*container.exit);
  if (container.last_exit) out["lastExit"] = to_json_value(*container.last_exit);
  return Json(std::move(out));
}

RunningContainer running_container(const Json& json) {
  RunningContainer out;
  out.name = text(json, "name");
  out.attempt = static_cast<int>(number(json, "attempt"));
  out.container_id = text(json, "id");
  out.started_at = time_of(json, "started");
  if (const Json* exit = find(json, {"exit"})) out.exit = exit_info(*exit);
  if (const Json* exit = find(json, {"lastExit"})) out.last_exit = exit_info(*exit);
  return out;
}

Json error_reply(std::int64_t id, const Error& error) {
  std::string_view name = "Internal";
  for (const CodeName& one : kCodes) {
    if (one.code == error.code) name = one.name;
  }
  return Json{{"id", id}, {"error", {{"code", name}, {"message", error.message}}}};
}

std::optional<Error> reply_error(const Json& reply) {
  const Json* error = find(reply, {"error"});
  if (error == nullptr) return std::nullopt;
  Error out = make_error(Code::Internal, text(*error, "message"));
  for (const CodeName& one : kCodes) {
    if (one.name == text(*error, "code")) out.code = one.code;
  }
  return out;
}

}  // namespace krater::agent
