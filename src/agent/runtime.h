// What the agent needs from whatever really runs containers, in the manner of the CRI: a sandbox
// (namespaces, address) a pod, containers in it. Implementations: process/ (shims on this machine)
// and simulated/. Everything is called and answered on the agent's loop; nothing blocks, and no
// answer comes from inside the call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/pod/state.h"
#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::agent {

struct PortMapping {
  int host_port = 0, container_port = 0;
  std::string protocol = "tcp", host_ip;
};

// An emptyDir in memory: made with the sandbox, gone with it.
struct MemoryVolume {
  std::string path;        // its mount point in the pod's directory
  std::int64_t bytes = 0;  // 0: as the kernel sees fit
};

struct SandboxSpec {
  std::string uid, name, name_space, hostname;
  bool host_network = false, host_pid = false, share_processes = false;
  std::string hosts_extra;  // lines for /etc/hosts beside those of the pod itself
  std::string resolv_conf;  // whole file
  std::string fqdn;         // "host.sub.ns.svc.cluster.local", empty without subdomain
  std::int64_t shm_bytes = 64 << 20;
  std::vector<MemoryVolume> memory_volumes;
  std::vector<PortMapping> ports;
  Labels annotations{};  // the simulated runtime reads its orders here
};

struct Mount {
  std::string source;  // on the node
  std::string target;  // in the container
  bool read_only = false;
  // With a subPath the volume it lies in: no link in it leads out, and what is missing is made.
  std::string within{};
};

struct ContainerRun {
  std::string name, image;
  Role role = Role::Main;
  int attempt = 0;                // restart count; names the log file
  std::vector<std::string> argv;  // command and args, expanded; empty: the image's default
  std::vector<std::pair<std::string, std::string>> env;  // in order, names unique
  std::string working_dir;
  std::vector<Mount> mounts;  // parents before children
  std::string termination_path;
  bool log_as_message_on_error = false, read_only_root = false, privileged = false;
  bool no_new_privileges = false;
  std::vector<std::string> add_capabilities, drop_capabilities;  // "NET_ADMIN", "ALL"
  std::optional<std::int64_t> user, group;
  std::vector<std::int64_t> groups;
  std::int64_t memory_limit_bytes = 0, cpu_limit_milli = 0, cpu_request_milli = 0;  // 0: none
};

struct Started {
  std::string container_id;
  WallTime at;
};

struct RunningContainer {
  std::string name;
  int attempt = 0;
  std::string container_id;
  WallTime started_at;
  std::optional<ExitInfo> exit;       // ended meanwhile
  std::optional<ExitInfo> last_exit;  // of the attempt before
};

// What the API says runs, and how it was started.
struct Recalled {
  ContainerRun run;
  Started started;
};

struct Sandbox {
  std::string uid, ip;  // ip empty: the node's
  bool alive = true;    // false: only what it left behind (records, logs) is there
  std::vector<RunningContainer> containers;
};

struct ExecResult {
  int exit_code = 0;
  bool timed_out = false;
  std::string output;  // bounded
};

// Told on the loop, also for what happened while the agent was away.
struct RuntimeListener {
  virtual ~RuntimeListener() = default;
  virtual void on_container_exit(const std::string& uid, const std::string& container, int attempt,
                                 const ExitInfo& exit) = 0;
  // The sandbox ended without being asked to; its containers are gone.
  virtual void on_sandbox_lost(const std::string& uid) = 0;
};

class Runtime {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  virtual ~Runtime() = default;
  // Before anything else is called. The listener outlives the runtime's use.
  virtual void set_listener(RuntimeListener* listener) = 0;
  // What runs or lies around from an earlier life of this agent.
  virtual void list(Done<std::vector<Sandbox>> done) = 0;
  // For a pod of an earlier life that list() did not have: a runtime that only keeps books takes
  // the API's word for what runs and goes on from there. False: it is not there.
  virtual bool recall(const SandboxSpec&, const std::string& ip, const std::vector<Recalled>&) {
    (void)ip;
    return false;
  }
  virtual void create_sandbox(SandboxSpec spec, Done<Sandbox> done) = 0;
  // Errors: Code::NotFound image nobody maps (ErrImagePull); Code::BadRequest cannot be run
  // (RunContainerError).
  virtual void start_container(const std::string& uid, ContainerRun run, Done<Started> done) = 0;
  // SIGTERM, and SIGKILL after the grace. The exit comes through the listener. Again with less
  // grace: sooner.
  virtual void stop_container(const std::string& uid, const std::string& container,
                              std::int64_t grace_seconds) = 0;
  // Ends what still runs, gives back address, cgroups and mounts; logs and records stay.
  virtual void remove_sandbox(const std::string& uid, Done<bool> done) = 0;
  // Removes logs, volumes and records of a sandbox that has been removed.
  virtual void forget(const std::string& uid) = 0;
  virtual void exec(const std::string& uid, const std::string& container,
                    std::vector<std::string> argv, int timeout_seconds, Done<ExecResult> done) = 0;

  // Whether containers get real environments and volumes (false: the agent does not fetch what they
  // refer to).
  virtual bool needs_content() const = 0;
  // Directory for the pod's volumes, and of a container's logs; empty without content.
  virtual std::string pod_directory(const std::string& uid) const = 0;
};

}  // namespace krater::agent
