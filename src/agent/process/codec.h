// What agent and shim say to each other and leave on disk for each other, as JSON. One message a
// line:
//   agent -> shim  {"id": 7, "do": "start", "run": {…}}   do: list, start, stop, exec, shutdown
//   shim -> agent  {"id": 7, "ok": {…}} or {"id": 7, "error": {"code": "BadRequest", "message": …}}
//   shim -> agent  {"event": "exit", "container": …, "attempt": …, "exit": {…}}
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/runtime.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::agent {

// DIR/sandbox.json: all that a shim needs to make its sandbox, and to clean up after one that died.
struct ShimConfig {
  SandboxSpec sandbox;
  bool isolate = false;             // namespaces, mounts and cgroups (needs root)
  std::string cni_bin_dir;          // empty: no network of its own beyond loopback
  std::string cni_config;           // a CNI network configuration list
  std::vector<std::string> hidden;  // host directories that no container may see
  std::string cgroup_parent = "krater";
  std::int64_t log_bytes = 10 << 20;
  int log_files = 5;
};

// What an image name stands for on this node.
struct Image {
  std::string path;  // goes first in PATH (its bin); a venv; empty: the host's programs as they are
  bool venv = false;
  std::string rootfs;  // root filesystem instead of the host's
};

Json to_json_value(const ShimConfig& config);
Result<ShimConfig> shim_config(const Json& json);

Json to_json_value(const ExitInfo& exit);
ExitInfo exit_info(const Json& json);

Json to_json_value(const ContainerRun& run, const Image& image);
ContainerRun container_run(const Json& json);
Image run_image(const Json& json);

Json to_json_value(const RunningContainer& container);
RunningContainer running_container(const Json& json);

Json error_reply(std::int64_t id, const Error& error);
// The error of a reply, if it is one.
std::optional<Error> reply_error(const Json& reply);

}  // namespace krater::agent
