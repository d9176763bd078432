#include "agent/shim/cni.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/shim/files.h"
#include "base/json.h"

namespace krater::agent {
namespace {

std::string output_of(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    if (out.size() < (1 << 20)) out.append(buffer, static_cast<std::size_t>(n));
  }
}

[[noreturn]] void become_plugin(const CniCall& call, const std::string& program,
                                const std::string& command, int in, int out) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  if (call.host_netns >= 0) ::setns(call.host_netns, CLONE_NEWNET);
  const std::vector<std::string> environment{
      "CNI_COMMAND=" + command,
      "CNI_CONTAINERID=" + call.container_id,
      "CNI_NETNS=" + call.netns,
      "CNI_IFNAME=eth0",
      "CNI_PATH=" + call.bin_dir,
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  std::vector<char*> envp;
  for (const std::string& one : environment) envp.push_back(const_cast<char*>(one.c_str()));
  envp.push_back(nullptr);
  char* argv[] = {const_cast<char*>(program.c_str()), nullptr};
  ::execve(program.c_str(), argv, envp.data());
  ::_exit(127);
}

// One plugin, to its end. Its standard output; an error holds what the plugin says.
Result<std::string> run_plugin(const CniCall& call, const std::string& type,
                               const std::string& command, const std::string& input) {
  const std::string program = call.bin_dir + "/" + type;
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return system_error("pipe for", program, errno);
  Fd in_read(in[0]), in_write(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return system_error("pipe for", program, errno);
  Fd out_read(out[0]), out_write(out[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork for", program, errno);
  if (pid == 0) become_plugin(call, program, command, in_read.get(), out_write.get());
  in_read.reset();
  out_write.reset();
  // Configurations are far smaller than a pipe's buffer.
  if (::write(in_write.get(), input.data(), input.size()) < 0)
    return system_error("write to", program, errno);
  in_write.reset();
  std::string text = output_of(out_read.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  const Result<Json> said = parse_json(text);
  const std::string why = said ? text_at(*said, {"msg"}) + " " + text_at(*said, {"details"})
                               : "cannot be run, or failed without a word";
  return make_error(Code::Unavailable, "CNI plugin " + program + " " + command + ": " + why);
}

Result<std::vector<Json>> plugin_configs(const CniCall& call) {
  TRY_ASSIGN(const Json list, parse_json(call.config));
  std::vector<Json> out;
  const JsonArray* plugins = array_at(list, {"plugins"});
  if (plugins == nullptr) return make_error(Code::Invalid, "the CNI configuration has no plugins");
  for (Json plugin : *plugins) {
    plugin.get_object()["name"] = text_at(list, {"name"});
    plugin.get_object()["cniVersion"] = text_at(list, {"cniVersion"});
    if (bool_at(plugin, {"capabilities", "portMappings"}).value_or(false)) {
      JsonArray mappings;
      for (const PortMapping& one : call.ports) {
        mappings.push_back(Json{{"hostPort", one.host_port},
                                {"containerPort", one.container_port},
                                {"protocol", one.protocol},
                                {"hostIP", one.host_ip}});
      }
      if (mappings.empty()) continue;
      plugin.get_object()["runtimeConfig"] = JsonObject{{"portMappings", std::move(mappings)}};
    }
    out.push_back(std::move(plugin));
  }
  return out;
}

}  // namespace

Result<std::string> cni_add(const CniCall& call) {
  TRY_ASSIGN(std::vector<Json> plugins, plugin_configs(call));
  Json result;
  for (Json& plugin : plugins) {
    if (!result.is_null()) plugin.get_object()["prevResult"] = result;
    TRY_ASSIGN(const std::string text,
               run_plugin(call, text_at(plugin, {"type"}), "ADD", to_json(plugin)));
    TRY_ASSIGN(result, parse_json(text));
  }
  const JsonArray* addresses = array_at(result, {"ips"});
  if (addresses == nullptr || addresses->empty())
    return make_error(Code::Unavailable, "the CNI plugins gave no address");
  const std::string address = text_at(addresses->front(), {"address"});
  return address.substr(0, address.find('/'));
}

Result<void> cni_del(const CniCall& call) {
  TRY_ASSIGN(std::vector<Json> plugins, plugin_configs(call));
  Result<void> out;
  for (auto plugin = plugins.rbegin(); plugin != plugins.rend(); ++plugin) {
    const Result<std::string> done =
        run_plugin(call, text_at(*plugin, {"type"}), "DEL", to_json(*plugin));
    if (!done && out) out = done.error();
  }
  return out;
}

}  // namespace krater::agent
