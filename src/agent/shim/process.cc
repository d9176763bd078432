#include "agent/shim/process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "agent/shim/capabilities.h"
#include "base/check.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string env_value(const std::vector<std::string>& env, std::string_view name) {
  for (const std::string& one : env) {
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return {};
}

// No program of the container, whoever runs it, gets more than these.
Result<void> bound_capabilities(const std::set<int>& kept) {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (!kept.contains(capability) && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 &&
        errno != EINVAL) {
      return system_error("drop capability", std::to_string(capability), errno);
    }
  }
  return {};
}

// A root user's own; any other lost them all with its identity.
Result<void> set_capabilities(const std::set<int>& kept) {
  if (::geteuid() != 0) return {};
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  for (const int capability : kept) {
    const auto bit = 1U << (capability % 32);
    data[capability / 32].effective |= bit;
    data[capability / 32].permitted |= bit;
  }
  if (::syscall(SYS_capset, &header, data) != 0) return system_error("set", "capabilities", errno);
  return {};
}

Result<void> become_user(const ContainerRun& run) {
  std::vector<gid_t> groups;
  for (const std::int64_t one : run.groups) groups.push_back(static_cast<gid_t>(one));
  if (::geteuid() != 0) return {};
  if (::setgroups(groups.size(), groups.data()) != 0) return system_error("set", "groups", errno);
  const gid_t group = static_cast<gid_t>(run.group.value_or(0));
  const uid_t user = static_cast<uid_t>(run.user.value_or(0));
  if (::setresgid(group, group, group) != 0) return system_error("set", "group", errno);
  if (::setresuid(user, user, user) != 0) return system_error("set", "user", errno);
  return {};
}

std::string home_of(const ContainerRun& run) {
  const uid_t user = run.user ? static_cast<uid_t>(*run.user) : ::geteuid();
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? "/" : entry->pw_dir;
}

// Finds and becomes the program; returns only when that failed.
Error run_program(const std::vector<std::string>& argv, const std::vector<std::string>& env) {
  std::vector<char*> args, envs;
  for (const std::string& one : argv) args.push_back(const_cast<char*>(one.c_str()));
  for (const std::string& one : env) envs.push_back(const_cast<char*>(one.c_str()));
  args.push_back(nullptr);
  envs.push_back(nullptr);
  const std::string& name = argv.front();
  if (name.find('/') != std::string::npos) {
    ::execve(name.c_str(), args.data(), envs.data());
    const int why = errno;
    return make_error(Code::BadRequest, "exec: \"" + name +
                                            "\": " + (why == ENOENT ? "stat " + name + ": " : "") +
                                            std::strerror(why));
  }
  int worst = ENOENT;
  const std::string search = env_value(env, "PATH");
  for (const std::string_view directory : split(search, ':')) {
    const std::string program = std::string(directory.empty() ? "." : directory) + "/" + name;
    ::execve(program.c_str(), args.data(), envs.data());
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
  }
  if (worst == ENOENT)
    return make_error(Code::BadRequest,
                      "exec: \"" + name + "\": executable file not found in $PATH");
  return make_error(Code::BadRequest, "exec: \"" + name + "\": " + std::strerror(worst));
}

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
}

// Everything in the new process up to the program itself; returns only when something failed.
Error enter_and_run(const ProcessPlan& plan, const std::vector<std::string>& argv) {
  const auto steps = [&]() -> Result<void> {
    const std::string directory = plan.run.working_dir.empty() ? "/" : plan.run.working_dir;
    if (::chdir(directory.c_str()) != 0) {
      // Docker makes a missing working directory; so do kubelets' runtimes.
      if (errno != ENOENT || !make_directories(directory) || ::chdir(directory.c_str()) != 0) {
        return make_error(Code::BadRequest,
                          "working directory " + directory + ": " + std::strerror(errno));
      }
    }
    ::umask(0022);
    const bool bounded = plan.isolate && !plan.run.privileged;
    TRY_ASSIGN(const std::set<int> kept, kept_capabilities(plan.run));
    // The bounds first, the own last: changing the identity needs some that may not be kept.
    if (bounded) TRY(bound_capabilities(kept));
    TRY(become_user(plan.run));
    if (bounded) TRY(set_capabilities(kept));
    if (plan.run.no_new_privileges) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    // A change of identity clears it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return {};
  };
  if (Result<void> done = steps(); !done) return done.error();
  return run_program(argv,
                     complete_environment(plan.run, plan.image, plan.hostname, home_of(plan.run)));
}

[[noreturn]] void report_and_exit(int report, const Error& error) {
  const std::string text = std::string(error.code == Code::BadRequest ? "B" : "I") + error.message;
  if (::write(report, text.data(), text.size()) < 0) ::_exit(126);
  ::_exit(127);
}

struct Pipes {
  Fd out_read, out_write, err_read, err_write, report_read, report_write;
};

Result<Pipes> make_pipes(bool split_streams) {
  Pipes out;
  const auto make = [](Fd& read_end, Fd& write_end) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return true;
  };
  if (!make(out.out_read, out.out_write) || (split_streams && !make(out.err_read, out.err_write)) ||
      !make(out.report_read, out.report_write)) {
    return system_error("make", "pipes", errno);
  }
  for (const Fd* fd : {&out.out_read, &out.err_read}) {
    if (*fd) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }
  return out;
}

void take_streams(const Pipes& pipes) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(pipes.out_write.get(), STDOUT_FILENO);
  ::dup2(pipes.err_write ? pipes.err_write.get() : pipes.out_write.get(), STDERR_FILENO);
}

// What the child has to say: nothing when its program runs.
Result<void> read_report(Pipes& pipes) {
  pipes.out_write.reset();
  pipes.err_write.reset();
  pipes.report_write.reset();
  std::string text;
  char buffer[1024];
  for (;;) {
    const ssize_t n = ::read(pipes.report_read.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  if (text.empty()) return {};
  return make_error(text.front() == 'B' ? Code::BadRequest : Code::Internal, text.substr(1));
}

pid_t clone_process(unsigned long flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
}

// As clone_process, in the process namespace that `processes` is open on. The shim's own children
// are in the node's again afterwards.
Result<pid_t> clone_among(int processes, unsigned long flags) {
  if (processes < 0) return clone_process(flags);
  const Fd own(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!own) return system_error("open", "/proc/self/ns/pid", errno);
  if (::setns(processes, CLONE_NEWPID) != 0) return system_error("join", "processes", errno);
  const pid_t pid = clone_process(flags);
  if (pid == 0) return pid;
  const int why = errno;
  CHECK(::setns(own.get(), CLONE_NEWPID) == 0);
  errno = why;
  return pid;
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Joins the namespaces of `target`; the process namespace takes effect for children only.
Result<void> join(pid_t target) {
  const std::string base = "/proc/" + std::to_string(target);
  // All are opened before the first is joined: /proc looks different afterwards.
  const Fd processes(::open((base + "/ns/pid").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd mounts(::open((base + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd root(::open((base + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!processes || !mounts || !root)
    return make_error(Code::NotFound, "the container does not run");
  if (::setns(processes.get(), CLONE_NEWPID) != 0 || ::setns(mounts.get(), CLONE_NEWNS) != 0) {
    return system_error("join", "namespaces", errno);
  }
  if (::fchdir(root.get()) != 0 || ::chroot(".") != 0)
    return system_error("enter", "the container's root", errno);
  return {};
}

}  // namespace

std::vector<std::string> complete_environment(const ContainerRun& run, const Image& image,
                                              const std::string& hostname,
                                              const std::string& home) {
  std::vector<std::string> out;
  std::string path(kPath);
  bool has_home = false, has_hostname = false;
  for (const auto& [name, value] : run.env) {
    has_home = has_home || name == "HOME";
    has_hostname = has_hostname || name == "HOSTNAME";
    if (name == "PATH") {
      path = value;
    } else if (!(image.venv && name == "VIRTUAL_ENV")) {
      out.push_back(name + "=" + value);
    }
  }
  if (!image.path.empty()) path = image.path + "/bin:" + path;
  out.push_back("PATH=" + path);
  if (image.venv) out.push_back("VIRTUAL_ENV=" + image.path);
  if (!has_home) out.push_back("HOME=" + home);
  if (!has_hostname) out.push_back("HOSTNAME=" + hostname);
  return out;
}

Result<Spawned> spawn_container(const ProcessPlan& plan, Cgroups& cgroups) {
  TRY_ASSIGN(Pipes pipes, make_pipes(true));
  if (plan.isolate) TRY(prepare_rootfs(plan.rootfs));
  const unsigned long flags =
      plan.isolate ? CLONE_NEWNS | (plan.own_processes ? CLONE_NEWPID : 0UL) : 0UL;
  TRY_ASSIGN(const pid_t pid, clone_among(plan.shared_processes, flags));
  if (pid < 0) return system_error("start", plan.run.name, errno);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    reset_signals();
    take_streams(pipes);
    if (plan.isolate) {
      if (Result<void> done = cgroups.enter(plan.run.name); !done)
        report_and_exit(pipes.report_write.get(), done.error());
      if (Result<void> done = enter_rootfs(plan.rootfs); !done)
        report_and_exit(pipes.report_write.get(), done.error());
    }
    report_and_exit(pipes.report_write.get(), enter_and_run(plan, plan.run.argv));
  }
  if (Result<void> said = read_report(pipes); !said) {
    reap(pid);
    return said.error();
  }
  return Spawned{pid, std::move(pipes.out_read), std::move(pipes.err_read)};
}

Result<Spawned> spawn_exec(const ProcessPlan& plan, Cgroups& cgroups, pid_t target,
                           const std::vector<std::string>& argv) {
  TRY_ASSIGN(Pipes pipes, make_pipes(false));
  int ids[2];
  if (::pipe2(ids, O_CLOEXEC) != 0) return system_error("make", "pipe", errno);
  Fd id_read(ids[0]), id_write(ids[1]);
  const pid_t helper = clone_process(0);
  if (helper < 0) return system_error("start", argv.front(), errno);
  if (helper == 0) {
    if (plan.isolate) {
      if (Result<void> done = cgroups.enter(plan.run.name); !done)
        report_and_exit(pipes.report_write.get(), done.error());
      if (Result<void> done = join(target); !done)
        report_and_exit(pipes.report_write.get(), done.error());
    }
    // A sibling of the helper, so that the shim itself is its parent and learns how it ends.
    const pid_t child = clone_process(CLONE_PARENT);
    if (child == 0) {
      ::setsid();
      reset_signals();
      take_streams(pipes);
      report_and_exit(pipes.report_write.get(), enter_and_run(plan, argv));
    }
    const bool told =
        ::write(id_write.get(), &child, sizeof child) == static_cast<ssize_t>(sizeof child);
    ::_exit(told ? 0 : 1);
  }
  id_write.reset();
  pid_t child = -1;
  const bool has_child =
      ::read(id_read.get(), &child, sizeof child) == static_cast<ssize_t>(sizeof child) &&
      child > 0;
  reap(helper);
  if (Result<void> said = read_report(pipes); !said) {
    if (has_child) reap(child);
    return said.error();
  }
  if (!has_child) return make_error(Code::Internal, "the process could not be started");
  return Spawned{child, std::move(pipes.out_read), Fd()};
}

}  // namespace krater::agent
