#include "agent/shim/sandbox.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "agent/shim/cni.h"

namespace krater::agent {
namespace {

std::vector<Cgroups::Hierarchy> usable_hierarchies(bool isolate) {
  if (!isolate) return {};
  const Result<std::string> table = read_file("/proc/self/mountinfo");
  return table ? Cgroups::find_hierarchies(*table) : std::vector<Cgroups::Hierarchy>();
}

Result<void> loopback_up() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    return system_error("bring up", "lo", errno);
  return {};
}

// Lets programs without privileges use low ports and ping, as container runtimes do. Old kernels
// lack it.
void relax_network() {
  (void)write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
  (void)write_file("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
}

// First process of a shared process namespace: adopts and buries orphans until it is killed. It
// holds nothing of the shim's: whoever waits for the other end of a pipe would wait for it too.
[[noreturn]] void be_init() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "pause", 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // containers see it; its root is the node's
  ::close_range(0, ~0U, 0);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &children, nullptr);
  for (;;) {
    int signal = 0;
    sigwait(&children, &signal);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

}  // namespace

SandboxHost::SandboxHost(std::string directory, ShimConfig config)
    : directory_(std::move(directory)),
      config_(std::move(config)),
      cgroups_(usable_hierarchies(config_.isolate), config_.cgroup_parent, config_.sandbox.uid) {}

Result<void> SandboxHost::set_up() {
  for (const char* name : {"etc", "containers", "logs", "shm", "volumes"})
    TRY(make_directories(file(name)));
  if (config_.isolate) {
    for (const std::string& complaint : cgroups_.prepare())
      std::fprintf(stderr, "%s\n", complaint.c_str());
    TRY(set_up_namespaces());
    TRY(set_up_network());
  }
  return write_etc();
}

Result<void> SandboxHost::set_up_namespaces() {
  const SandboxSpec& pod = config_.sandbox;
  host_netns_.reset(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!host_netns_) return system_error("open", "/proc/self/ns/net", errno);
  const int flags =
      CLONE_NEWNS | CLONE_NEWIPC | (pod.host_network ? 0 : CLONE_NEWUTS | CLONE_NEWNET);
  if (::unshare(flags) != 0) return system_error("unshare", "namespaces", errno);
  // What the host unmounts goes here as well; what is mounted here stays here.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return system_error("make private", "/", errno);
  if (!pod.host_network && ::sethostname(pod.hostname.data(), pod.hostname.size()) != 0) {
    return system_error("set hostname", pod.hostname, errno);
  }
  const auto memory = [](const std::string& path, std::int64_t bytes) -> Result<void> {
    const std::string options = bytes > 0 ? "mode=1777,size=" + std::to_string(bytes) : "mode=1777";
    if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
      return system_error("mount tmpfs at", path, errno);
    return {};
  };
  TRY(memory(file("shm"), pod.shm_bytes));
  for (const MemoryVolume& volume : pod.memory_volumes) {
    TRY(make_directories(volume.path));
    TRY(memory(volume.path, volume.bytes));
  }
  return pod.share_processes ? share_processes() : Result<void>();
}

// The shim itself, and what it starts for the pod's network, stay among the node's processes: their
// /proc is the node's. Only containers are started in the namespace.
Result<void> SandboxHost::share_processes() {
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0));
  if (pid < 0) return system_error("start", "init", errno);
  if (pid == 0) be_init();
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/pid";
  shared_processes_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!shared_processes_) return system_error("open", path, errno);
  return {};
}

Result<void> SandboxHost::set_up_network() {
  if (config_.sandbox.host_network) return {};
  TRY(loopback_up());
  relax_network();
  has_network_ = true;
  TRY_ASSIGN(ip_, cni_add({config_.cni_bin_dir, config_.cni_config, config_.sandbox.uid,
                           "/proc/" + std::to_string(::getpid()) + "/ns/net", host_netns_.get(),
                           config_.sandbox.ports}));
  return {};
}

Result<void> SandboxHost::write_etc() {
  const SandboxSpec& pod = config_.sandbox;
  std::string hosts =
      "# managed by krater\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n";
  if (pod.host_network) {
    const Result<std::string> own = read_file("/etc/hosts");
    if (own) hosts = *own;
  } else if (!ip_.empty()) {
    hosts += ip_ + "\t" + (pod.fqdn.empty() ? "" : pod.fqdn + "\t") + pod.hostname + "\n";
  }
  TRY(replace_file(file("etc/hosts"), hosts + pod.hosts_extra));
  TRY(replace_file(file("etc/hostname"), pod.hostname + "\n"));
  return replace_file(file("etc/resolv.conf"), pod.resolv_conf);
}

Result<void> SandboxHost::take_down() {
  cgroups_.remove_all();
  const bool networked =
      config_.isolate && !config_.sandbox.host_network && !config_.cni_bin_dir.empty();
  if (!networked) return {};
  return cni_del({config_.cni_bin_dir, config_.cni_config, config_.sandbox.uid,
                  has_network_ ? "/proc/" + std::to_string(::getpid()) + "/ns/net" : std::string(),
                  host_netns_.get(), config_.sandbox.ports});
}

}  // namespace krater::agent
