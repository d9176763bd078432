#include "agent/shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>

#include "agent/shim/container.h"
#include "agent/shim/sandbox.h"
#include "base/last_words.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::size_t kMaxMessage = 8 << 20;      // a request longer than this ends the connection
constexpr std::size_t kMaxExecOutput = 10 << 10;  // what a probe may say

// The shim is a process of its own: this is its composition root, and here it reads the clocks.
class Clock final : public WallClock {
 public:
  WallTime now() const override {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return WallTime(time.tv_sec * 1'000'000'000LL + time.tv_nsec);
  }
};

std::int64_t monotonic_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

struct Peer {
  Fd fd;
  std::string in, out;
  bool gone = false;
};

struct Exec {
  std::string container;
  pid_t pid = 0;
  Fd out;
  std::string output;
  std::int64_t deadline_ms = 0;
  bool timed_out = false;
  std::int64_t request = 0;
  Peer* peer = nullptr;
};

class Shim {
 public:
  explicit Shim(SandboxHost& host) : host_(host) {}

  Result<void> listen();
  // Until it has been asked to shut down and everything has ended.
  void run();

 private:
  void accept();
  void read(Peer& peer);
  void flush(Peer& peer);
  void send(Peer& peer, const Json& message);
  void handle(Peer& peer, const Json& request);
  void start(Peer& peer, std::int64_t id, const Json& request);
  void stop(const Json& request);
  void exec(Peer& peer, std::int64_t id, const Json& request);
  void list(Peer& peer, std::int64_t id);
  void shut_down();
  void reap();
  void exec_ended(Exec& exec, int status);
  void fire_timers();
  int timeout_ms() const;
  void drop_gone_peers();

  SandboxHost& host_;
  Clock clock_;
  Fd listener_, signals_;
  std::list<Peer> peers_;
  std::map<std::string, ShimContainer> containers_;
  std::list<Exec> execs_;
  bool stopping_ = false;
  std::vector<std::pair<Peer*, std::int64_t>> waiting_for_end_;
};

// The path of a unix socket has room for 107 characters only; a directory may lie deeper.
Result<Fd> open_directory(const std::string& path) {
  Fd out(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!out) return system_error("open", path, errno);
  return out;
}

Result<void> Shim::listen() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, signal);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  TRY_ASSIGN(const Fd directory, open_directory(host_.directory()));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/shim.sock",
                directory.get());
  ::unlink(host_.file("shim.sock").c_str());
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::umask(0077);
  if (!listener_ ||
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 8) != 0) {
    return system_error("listen at", host_.file("shim.sock"), errno);
  }
  ::umask(0022);
  return {};
}

void Shim::run() {
  for (;;) {
    reap();
    fire_timers();
    drop_gone_peers();
    if (stopping_ && execs_.empty()) {
      bool any = false;
      for (const auto& [name, container] : containers_) any = any || container.running();
      if (!any) break;
    }
    std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const Peer& peer : peers_) {
      fds.push_back(
          {peer.fd.get(), static_cast<short>(POLLIN | (peer.out.empty() ? 0 : POLLOUT)), 0});
    }
    for (const auto& [name, container] : containers_) {
      for (const int fd : {container.out(), container.err()}) {
        if (fd >= 0) fds.push_back({fd, POLLIN, 0});
      }
    }
    for (const Exec& exec : execs_) {
      if (exec.out) fds.push_back({exec.out.get(), POLLIN, 0});
    }
    if (::poll(fds.data(), fds.size(), timeout_ms()) < 0 && errno != EINTR) break;
    if ((fds[1].revents & POLLIN) != 0) {
      signalfd_siginfo info{};
      while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM) shut_down();
      }
    }
    for (auto& [name, container] : containers_) container.read_output();
    for (Exec& exec : execs_) {
      char buffer[4096];
      while (exec.out) {
        const ssize_t n = ::read(exec.out.get(), buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n <= 0) {
          exec.out.reset();
        } else if (exec.output.size() < kMaxExecOutput) {
          exec.output.append(buffer, static_cast<std::size_t>(n));
        }
      }
    }
    for (Peer& peer : peers_) {
      flush(peer);
      read(peer);
    }
    if ((fds[0].revents & POLLIN) != 0) accept();
  }
  const Result<void> down = host_.take_down();
  if (!down) std::fprintf(stderr, "%s\n", down.error().message.c_str());
  (void)replace_file(host_.file("state.json"), to_json(Json{{"alive", false}}));
  ::unlink(host_.file("shim.sock").c_str());
  for (const auto& [peer, id] : waiting_for_end_) {
    if (down) {
      send(*peer, Json{{"id", id}, {"ok", JsonObject()}});
    } else {
      send(*peer, error_reply(id, down.error()));
    }
    flush(*peer);
  }
}

void Shim::accept() {
  const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  peers_.emplace_back();
  peers_.back().fd.reset(fd);
}

void Shim::read(Peer& peer) {
  char buffer[65536];
  while (!peer.gone) {
    const ssize_t n = ::read(peer.fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0 || peer.in.size() > kMaxMessage) {
      // What came before the end still counts.
      peer.gone = true;
      break;
    }
    peer.in.append(buffer, static_cast<std::size_t>(n));
  }
  for (std::size_t end = peer.in.find('\n'); end != std::string::npos; end = peer.in.find('\n')) {
    const Result<Json> request = parse_json(std::string_view(peer.in).substr(0, end));
    peer.in.erase(0, end + 1);
    if (request) handle(peer, *request);
  }
}

void Shim::flush(Peer& peer) {
  while (!peer.out.empty() && !peer.gone) {
    const ssize_t n = ::write(peer.fd.get(), peer.out.data(), peer.out.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {
      peer.gone = true;
      return;
    }
    peer.out.erase(0, static_cast<std::size_t>(n));
  }
}

void Shim::send(Peer& peer, const Json& message) {
  append_json(peer.out, message);
  peer.out += '\n';
  flush(peer);
}

void Shim::drop_gone_peers() {
  for (Peer& peer : peers_) {
    if (!peer.gone) continue;
    for (Exec& exec : execs_) {
      if (exec.peer == &peer) exec.peer = nullptr;
    }
    std::erase_if(waiting_for_end_, [&](const auto& one) { return one.first == &peer; });
  }
  peers_.remove_if([](const Peer& peer) { return peer.gone; });
}

void Shim::handle(Peer& peer, const Json& request) {
  const std::int64_t id = int_at(request, {"id"}).value_or(0);
  const std::string what = text_at(request, {"do"});
  if (what == "list") return list(peer, id);
  if (what == "start") return start(peer, id, request);
  if (what == "exec") return exec(peer, id, request);
  if (what == "stop") {
    stop(request);
    return send(peer, Json{{"id", id}, {"ok", JsonObject()}});
  }
  if (what == "shutdown") {
    waiting_for_end_.emplace_back(&peer, id);
    return shut_down();
  }
  send(peer, error_reply(id, make_error(Code::BadRequest, "unknown request " + what)));
}

void Shim::start(Peer& peer, std::int64_t id, const Json& request) {
  const Json* json = find(request, {"run"});
  if (stopping_ || json == nullptr)
    return send(peer,
                error_reply(id, make_error(Code::Unavailable, "the sandbox is being removed")));
  ContainerRun run = container_run(*json);
  const std::string name = run.name;
  ShimContainer& container = containers_.try_emplace(name, host_, clock_, name).first->second;
  const Result<Started> started = container.start(std::move(run), run_image(*json));
  if (!started) return send(peer, error_reply(id, started.error()));
  send(peer,
       Json{{"id", id},
            {"ok", {{"containerId", started->container_id}, {"at", started->at.unix_nanos()}}}});
}

void Shim::stop(const Json& request) {
  const auto place = containers_.find(text_at(request, {"container"}));
  if (place == containers_.end() || !place->second.running()) return;
  ShimContainer& container = place->second;
  const std::int64_t grace_seconds = int_at(request, {"grace"}).value_or(0);
  if (grace_seconds <= 0) return container.kill();
  if (!container.kill_at_ms) container.terminate();
  const std::int64_t at = monotonic_ms() + grace_seconds * 1000;
  container.kill_at_ms = container.kill_at_ms ? std::min(*container.kill_at_ms, at) : at;
}

void Shim::exec(Peer& peer, std::int64_t id, const Json& request) {
  std::vector<std::string> argv;
  if (const JsonArray* list = array_at(request, {"argv"})) {
    for (const Json& one : *list) {
      if (one.is_string()) argv.emplace_back(view(one.get_string()));
    }
  }
  const auto place = containers_.find(text_at(request, {"container"}));
  if (place == containers_.end() || argv.empty())
    return send(peer, error_reply(id, make_error(Code::NotFound, "no such container")));
  Result<Spawned> spawned = place->second.exec(argv);
  if (!spawned) return send(peer, error_reply(id, spawned.error()));
  Exec& made = execs_.emplace_back();
  made.pid = spawned->pid;
  made.out = std::move(spawned->out);
  made.deadline_ms = monotonic_ms() + int_at(request, {"timeout"}).value_or(1) * 1000;
  made.request = id;
  made.container = place->first;
  made.peer = &peer;
}

void Shim::list(Peer& peer, std::int64_t id) {
  JsonArray containers;
  for (const auto& [name, container] : containers_) {
    if (container.record().attempt > 0 || container.record().started_at != WallTime())
      containers.push_back(to_json_value(container.record()));
  }
  send(peer, Json{{"id", id}, {"ok", {{"ip", host_.ip()}, {"containers", std::move(containers)}}}});
}

void Shim::shut_down() {
  stopping_ = true;
  for (auto& [name, container] : containers_) container.kill();
  for (const Exec& exec : execs_) ::kill(-exec.pid, SIGKILL);
}

void Shim::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
       pid = ::waitpid(-1, &status, WNOHANG)) {
    for (auto& [name, container] : containers_) {
      if (container.pid() != pid) continue;
      // What was executed in it ends with it, also where no namespace sees to that.
      for (const Exec& exec : execs_) {
        if (exec.container == name) ::kill(-exec.pid, SIGKILL);
      }
      const ExitInfo exit = container.ended(status);
      for (Peer& peer : peers_) {
        send(peer, Json{{"event", "exit"},
                        {"container", name},
                        {"attempt", container.attempt()},
                        {"exit", to_json_value(exit)}});
      }
    }
    for (auto place = execs_.begin(); place != execs_.end(); ++place) {
      if (place->pid != pid) continue;
      exec_ended(*place, status);
      execs_.erase(place);
      break;
    }
  }
}

void Shim::exec_ended(Exec& exec, int status) {
  ::kill(-exec.pid, SIGKILL);  // what it may have started in its group
  char buffer[4096];
  for (ssize_t n = 1; exec.out && exec.output.size() < kMaxExecOutput && n > 0;) {
    n = ::read(exec.out.get(), buffer, sizeof buffer);
    if (n > 0) exec.output.append(buffer, static_cast<std::size_t>(n));
  }
  if (exec.peer == nullptr) return;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  // Programs print what they like; JSON carries text.
  send(*exec.peer, Json{{"id", exec.request},
                        {"ok",
                         {{"code", code},
                          {"timedOut", exec.timed_out},
                          {"output", base64_encode(exec.output)}}}});
}

void Shim::fire_timers() {
  const std::int64_t now = monotonic_ms();
  for (auto& [name, container] : containers_) {
    if (!container.kill_at_ms || *container.kill_at_ms > now) continue;
    container.kill_at_ms.reset();
    container.kill();
  }
  for (Exec& exec : execs_) {
    if (exec.timed_out || exec.deadline_ms > now) continue;
    exec.timed_out = true;
    ::kill(-exec.pid, SIGKILL);
  }
}

int Shim::timeout_ms() const {
  std::int64_t out = -1;
  const auto consider = [&](std::int64_t at) {
    const std::int64_t left = std::max<std::int64_t>(at - monotonic_ms(), 0);
    out = out < 0 ? left : std::min(out, left);
  };
  for (const auto& [name, container] : containers_) {
    if (container.kill_at_ms) consider(*container.kill_at_ms);
  }
  for (const Exec& exec : execs_) {
    if (!exec.timed_out) consider(exec.deadline_ms);
  }
  return static_cast<int>(std::min<std::int64_t>(out, 3'600'000));
}

// False when whoever asked for this is gone.
bool say(int fd, const std::string& text) {
  if (fd < 0 || ::write(fd, text.data(), text.size()) >= 0) return true;
  std::fprintf(stderr, "nobody waits for this shim\n");
  return false;
}

// One process at a time has a pod's directory: its shim, or whoever clears up behind it. With
// `by_force` a shim that has it is killed: an agent that died while a sandbox came up leaves one
// behind that nobody has heard of.
Result<Fd> own_directory(const std::string& directory, bool by_force) {
  const std::string path = directory + "/shim.lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return system_error("open", path, errno);
  int holder = 0;
  for (int tries = 0; tries < 500; ++tries) {
    if (take_lock(lock.get(), holder)) return lock;
    if (!by_force)
      return make_error(Code::Unavailable,
                        "process " + std::to_string(holder) + " has this pod already");
    if (holder > 1) ::kill(holder, SIGKILL);
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return make_error(Code::Unavailable, "process " + std::to_string(holder) + " does not let go");
}

int run_shim(SandboxHost& host, int ready_fd) {
  Shim shim(host);
  Result<void> up = host.set_up();
  if (up) up = shim.listen();
  if (up)
    up = replace_file(host.file("state.json"),
                      to_json(Json{{"alive", true}, {"pid", ::getpid()}, {"ip", host.ip()}}));
  if (!up) {
    std::fprintf(stderr, "%s\n", up.error().message.c_str());
    (void)host.take_down();
    (void)say(ready_fd, "error " + up.error().message);
    return 1;
  }
  // The next agent knows nothing of this sandbox and makes its own.
  if (!say(ready_fd, "ok " + host.ip())) {
    (void)host.take_down();
    return 1;
  }
  if (ready_fd >= 0) ::close(ready_fd);
  shim.run();
  return 0;
}

}  // namespace

int shim_main(int argc, char** argv) {
  std::string directory;
  int ready_fd = -1;
  bool clean_up = false, remove = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--dir" && i + 1 < argc) directory = argv[++i];
    if (argument == "--ready") ready_fd = 3;
    if (argument == "--clean-up") clean_up = true;
    if (argument == "--remove") remove = true;
  }
  // Sockets and files of the agent that started it are not the shim's to hold.
  ::close_range(ready_fd >= 0 ? 4 : 3, ~0U, 0);
  if (remove) {
    const Result<void> removed = remove_tree(directory);
    if (!removed) std::fprintf(stderr, "%s\n", removed.error().message.c_str());
    return removed ? 0 : 1;
  }
  const Result<std::string> text = read_file(directory + "/sandbox.json");
  const Result<Json> json = text ? parse_json(*text) : Result<Json>(text.error());
  Result<ShimConfig> config = json ? shim_config(*json) : Result<ShimConfig>(json.error());
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    (void)say(ready_fd, "error " + config.error().message);
    return 1;
  }
  if (ready_fd >= 0) ::fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_NAME, "krater-shim", 0, 0, 0);
  prepare_last_words();
  const Result<Fd> lock = own_directory(directory, clean_up);
  if (!lock) {
    std::fprintf(stderr, "%s\n", lock.error().message.c_str());
    (void)say(ready_fd, "error " + lock.error().message);
    return 1;
  }
  SandboxHost host(directory, *std::move(config));
  if (!clean_up) return run_shim(host, ready_fd);
  const Result<void> down = host.take_down();
  (void)replace_file(host.file("state.json"), to_json(Json{{"alive", false}}));
  if (!down) std::fprintf(stderr, "%s\n", down.error().message.c_str());
  return down ? 0 : 1;
}

}  // namespace krater::agent
