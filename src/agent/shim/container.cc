#include "agent/shim/container.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace krater::agent {
namespace {

constexpr std::size_t kMaxMessage = 4096;

std::string exit_reason(int code, bool out_of_memory) {
  if (out_of_memory) return "OOMKilled";
  return code == 0 ? "Completed" : "Error";
}

// Without namespaces nothing can be mounted. What the host has there anyway serves; the rest is
// refused, not ignored.
Result<void> check_plain_mounts(const ContainerRun& run) {
  constexpr std::string_view kToken = "/var/run/secrets/kubernetes.io/serviceaccount";
  for (const Mount& mount : run.mounts) {
    const bool scratch = !mount.read_only && ::access(mount.target.c_str(), W_OK) == 0;
    if (mount.target == kToken || scratch) continue;
    return make_error(Code::Internal, "a volume cannot be mounted at " + mount.target +
                                          ": the agent does not run as root");
  }
  return {};
}

}  // namespace

ProcessPlan ShimContainer::make_plan(ContainerRun run, Image image) const {
  const ShimConfig& config = host_.config();
  const SandboxSpec& pod = config.sandbox;
  ProcessPlan out;
  out.isolate = config.isolate;
  out.own_processes = !pod.host_pid && !pod.share_processes;
  out.shared_processes = host_.shared_processes();
  out.hostname = pod.hostname;
  RootfsPlan& root = out.rootfs;
  root.directory = directory();
  root.pod_directory = host_.directory();
  if (!image.rootfs.empty()) root.lower = image.rootfs;
  root.read_only = run.read_only_root;
  root.privileged = run.privileged;
  root.own_network = !pod.host_network;
  root.own_processes = out.own_processes || pod.share_processes;
  root.hidden = config.hidden;
  if (!image.path.empty()) root.kept.push_back(image.path);
  root.mounts = run.mounts;
  for (const char* name : {"hosts", "hostname", "resolv.conf"}) {
    root.files.push_back(
        {host_.file(std::string("etc/") + name), std::string("/etc/") + name, false});
  }
  if (!run.termination_path.empty())
    root.files.push_back({directory() + "/termination-log", run.termination_path, false});
  for (const Cgroups::Hierarchy& hierarchy : host_.cgroups().hierarchies()) {
    const std::string name = hierarchy.mount.substr(hierarchy.mount.rfind('/') + 1);
    root.cgroups.emplace_back(host_.cgroups().directory(hierarchy, run.name),
                              hierarchy.v2 ? std::string() : name);
  }
  out.run = std::move(run);
  out.image = std::move(image);
  return out;
}

Result<Started> ShimContainer::start(ContainerRun run, Image image) {
  if (running()) return make_error(Code::Internal, "container " + name_ + " runs already");
  if (!host_.config().isolate) TRY(check_plain_mounts(run));
  plan_ = make_plan(std::move(run), std::move(image));
  TRY(make_directories(directory()));
  TRY(make_directories(host_.file("logs/" + name_)));
  TRY(replace_file(directory() + "/termination-log", ""));
  if (plan_.isolate) {
    TRY(host_.cgroups().make(name_, {plan_.run.memory_limit_bytes, plan_.run.cpu_limit_milli,
                                     plan_.run.cpu_request_milli}));
  }
  log_ = std::make_unique<LogWriter>(host_.file("logs/" + name_), plan_.run.attempt,
                                     host_.config().log_bytes, host_.config().log_files);
  TRY_ASSIGN(Spawned spawned, spawn_container(plan_, host_.cgroups()));
  pid_ = spawned.pid;
  out_ = std::move(spawned.out);
  err_ = std::move(spawned.err);
  kill_at_ms.reset();
  record_.last_exit = record_.exit;
  record_.exit.reset();
  record_.name = name_;
  record_.attempt = plan_.run.attempt;
  record_.container_id = "krater://" + host_.config().sandbox.uid + "/" + name_ + "/" +
                         std::to_string(plan_.run.attempt);
  record_.started_at = clock_.now();
  save();
  return Started{record_.container_id, record_.started_at};
}

void ShimContainer::terminate() {
  if (running()) ::kill(plan_.isolate ? pid_ : -pid_, SIGTERM);
}

void ShimContainer::kill() {
  if (running()) ::kill(plan_.isolate && plan_.own_processes ? pid_ : -pid_, SIGKILL);
}

void ShimContainer::drain(Fd& fd, LogWriter::Stream stream) {
  char buffer[65536];
  while (fd) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return fd.reset();
    log_->append(stream, {buffer, static_cast<std::size_t>(n)}, clock_.now());
  }
}

void ShimContainer::read_output() {
  drain(out_, LogWriter::Stream::Stdout);
  drain(err_, LogWriter::Stream::Stderr);
}

ExitInfo ShimContainer::ended(int wait_status) {
  // What shares the first process's group but not its namespace is left over; it goes too.
  if (!plan_.isolate || !plan_.own_processes) ::kill(-pid_, SIGKILL);
  pid_ = 0;
  kill_at_ms.reset();
  read_output();
  log_->finish(clock_.now());
  out_.reset();
  err_.reset();
  ExitInfo exit;
  exit.code = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  exit.reason = exit_reason(
      exit.code, exit.code != 0 && plan_.isolate && host_.cgroups().out_of_memory(name_));
  exit.message = termination_message(exit.code != 0);
  exit.started = record_.started_at;
  exit.finished = clock_.now();
  exit.container_id = record_.container_id;
  record_.exit = exit;
  save();
  return exit;
}

std::string ShimContainer::termination_message(bool failed) {
  Result<std::string> text = read_file(directory() + "/termination-log");
  std::string out = text ? *std::move(text) : std::string();
  if (out.empty() && failed && plan_.run.log_as_message_on_error) out = log_->tail();
  if (out.size() > kMaxMessage) out.erase(0, out.size() - kMaxMessage);
  return out;
}

Result<Spawned> ShimContainer::exec(const std::vector<std::string>& argv) {
  if (!running()) return make_error(Code::NotFound, "container " + name_ + " does not run");
  return spawn_exec(plan_, host_.cgroups(), pid_, argv);
}

void ShimContainer::save() {
  const Result<void> saved =
      replace_file(directory() + "/record.json", to_json(to_json_value(record_)));
  if (!saved) std::fprintf(stderr, "%s\n", saved.error().message.c_str());
}

}  // namespace krater::agent
