#include "agent/process/process_runtime.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> out;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return out;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  ::closedir(directory);
  return out;
}

Sandbox sandbox_from(const std::string& uid, const Json& answer) {
  Sandbox out;
  out.uid = uid;
  out.ip = text_at(answer, {"ip"});
  if (const JsonArray* list = array_at(answer, {"containers"})) {
    for (const Json& one : *list) out.containers.push_back(running_container(one));
  }
  return out;
}

Error no_sandbox() {
  return make_error(Code::Unavailable, "the pod's sandbox is gone");
}

}  // namespace

struct ProcessRuntime::Birth {
  Fd pipe;
  std::unique_ptr<FdPoller::Watch> watch;
  std::string text;
  Done<Sandbox> done;
};

struct ProcessRuntime::Listing {
  std::vector<Sandbox> found;
  std::size_t waiting = 1;
  Done<std::vector<Sandbox>> done;
  void one_less() {
    if (--waiting == 0) done(std::move(found));
  }
};

ProcessRuntime::ProcessRuntime(Loop& loop, FdPoller& poller, ProcessRuntimeOptions options)
    : loop_(loop),
      poller_(poller),
      options_(std::move(options)),
      children_(poller, options_.binary) {}

void ProcessRuntime::list(Done<std::vector<Sandbox>> done) {
  if (Result<void> made = make_directories(options_.directory); !made) {
    return later([done = std::move(done), error = made.error()] { done(error); });
  }
  auto listing = std::make_shared<Listing>();
  listing->done = std::move(done);
  for (const std::string& uid : entries_of(options_.directory)) {
    if (!links_.contains(uid) && !link(uid)) {
      listing->found.push_back(remains(uid));
      continue;
    }
    ++listing->waiting;
    links_.at(uid)->request(JsonObject{{"do", "list"}}, [this, uid, listing](Result<Json> answer) {
      listing->found.push_back(answer ? sandbox_from(uid, *answer) : remains(uid));
      listing->one_less();
    });
  }
  later([listing] { listing->one_less(); });
}

// What a dead shim wrote down.
Sandbox ProcessRuntime::remains(const std::string& uid) const {
  Sandbox out;
  out.uid = uid;
  out.alive = false;
  const std::string containers = pod_directory(uid) + "/containers";
  for (const std::string& name : entries_of(containers)) {
    const Result<std::string> text = read_file(containers + "/" + name + "/record.json");
    const Result<Json> record = text ? parse_json(*text) : Result<Json>(text.error());
    if (record) out.containers.push_back(running_container(*record));
  }
  return out;
}

Result<void> ProcessRuntime::link(const std::string& uid) {
  TRY_ASSIGN(std::unique_ptr<ShimLink> made,
             ShimLink::connect(pod_directory(uid), poller_, loop_,
                               {[this, uid](const Json& news) { event(uid, news); },
                                [this, uid] { closed(uid); }}));
  links_[uid] = std::move(made);
  return {};
}

void ProcessRuntime::create_sandbox(SandboxSpec spec, Done<Sandbox> done) {
  const std::string uid = spec.uid, directory = pod_directory(uid);
  removing_.erase(uid);
  ShimConfig config;
  config.sandbox = std::move(spec);
  config.isolate = options_.isolate;
  // Without plugins there is no address to give: the node's own network serves.
  if (options_.cni_bin_dir.empty()) config.sandbox.host_network = true;
  config.cni_bin_dir = options_.cni_bin_dir;
  config.cni_config = options_.cni_config;
  config.hidden = options_.hidden;
  config.log_bytes = options_.log_bytes;
  config.log_files = options_.log_files;
  auto birth = std::make_shared<Birth>();
  const auto prepare = [&]() -> Result<void> {
    TRY(make_directories(directory, 0750));
    // What an earlier sandbox of this pod left must not speak for this one.
    ::unlink((directory + "/state.json").c_str());
    TRY(replace_file(directory + "/sandbox.json", to_json(to_json_value(config))));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make", "pipe", errno);
    birth->pipe.reset(ends[0]);
    const Fd theirs(ends[1]);
    ::fcntl(birth->pipe.get(), F_SETFL, O_NONBLOCK);
    return children_.spawn({"--dir", directory, "--ready"}, directory + "/shim.log", theirs.get(),
                           {});
  };
  if (Result<void> ready = prepare(); !ready)
    return later([done = std::move(done), error = ready.error()] { done(error); });
  birth->done = std::move(done);
  birth->watch =
      poller_.on_readable(birth->pipe.get(), [this, uid, birth] { shim_said(uid, birth); });
}

void ProcessRuntime::shim_said(const std::string& uid, const std::shared_ptr<Birth>& birth) {
  char buffer[4096];
  const ssize_t n = ::read(birth->pipe.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) {
    birth->text.append(buffer, static_cast<std::size_t>(n));
    return;
  }
  // The end: the watch holds the birth and the birth the watch; both are let go here.
  const auto watch = std::move(birth->watch);
  const auto done = std::move(birth->done);
  if (!birth->text.starts_with("ok")) {
    const std::string why =
        birth->text.starts_with("error ") ? birth->text.substr(6) : "the shim ended; see shim.log";
    return done(make_error(Code::Unavailable, why));
  }
  Sandbox out;
  out.uid = uid;
  out.ip = std::string(trim(std::string_view(birth->text).substr(2)));
  if (Result<void> linked = link(uid); !linked) return done(linked.error());
  done(out);
}

void ProcessRuntime::start_container(const std::string& uid, ContainerRun run, Done<Started> done) {
  const Result<Image> image = options_.images.resolve(run.image);
  if (!image) return later([done = std::move(done), error = image.error()] { done(error); });
  const auto place = links_.find(uid);
  if (place == links_.end()) return later([done = std::move(done)] { done(no_sandbox()); });
  if (run.argv.empty()) run.argv = {"/bin/sh"};
  place->second->request(JsonObject{{"do", "start"}, {"run", to_json_value(run, *image)}},
                         [done = std::move(done)](Result<Json> answer) {
                           if (!answer) return done(answer.error());
                           done(Started{text_at(*answer, {"containerId"}),
                                        WallTime(int_at(*answer, {"at"}).value_or(0))});
                         });
}

void ProcessRuntime::stop_container(const std::string& uid, const std::string& container,
                                    std::int64_t grace_seconds) {
  const auto place = links_.find(uid);
  if (place == links_.end()) return;
  place->second->request(
      JsonObject{{"do", "stop"}, {"container", container}, {"grace", grace_seconds}},
      [](const Result<Json>&) {});
}

void ProcessRuntime::remove_sandbox(const std::string& uid, Done<bool> done) {
  removing_[uid] = true;
  const auto place = links_.find(uid);
  if (place == links_.end()) return clean_up(uid, std::move(done));
  place->second->request(JsonObject{{"do", "shutdown"}},
                         [this, uid, done = std::move(done)](Result<Json> answer) {
                           if (!answer) return clean_up(uid, done);
                           later([this, uid] { links_.erase(uid); });
                           done(true);
                         });
}

// For a sandbox whose shim is gone: a process of its own gives back what it held.
void ProcessRuntime::clean_up(const std::string& uid, Done<bool> done) {
  const std::string directory = pod_directory(uid);
  const Result<std::string> state = read_file(directory + "/state.json");
  const Result<Json> json = state ? parse_json(*state) : Result<Json>(state.error());
  const bool clean = json ? !bool_at(*json, {"alive"}).value_or(true)
                          : ::access((directory + "/sandbox.json").c_str(), F_OK) != 0;
  if (clean) return later([done = std::move(done)] { done(true); });
  const Result<void> started = children_.spawn(
      {"--dir", directory, "--clean-up"}, directory + "/shim.log", -1, [done](int code) {
        if (code == 0) return done(true);
        done(make_error(Code::Unavailable,
                        "clean-up of a sandbox failed; see shim.log in its directory"));
      });
  if (!started) later([done = std::move(done), error = started.error()] { done(error); });
}

void ProcessRuntime::forget(const std::string& uid) {
  links_.erase(uid);
  removing_.erase(uid);
  const std::string directory = pod_directory(uid);
  if (::access(directory.c_str(), F_OK) != 0) return;
  // A pod may leave many files: another process deletes them.
  const Result<void> started =
      children_.spawn({"--dir", directory, "--remove"}, "/dev/null", -1, [directory](int code) {
        if (code != 0) log::warn("agent.directory_stays", {{"path", directory}});
      });
  if (!started)
    log::warn("agent.directory_stays", {{"path", directory}, {"why", started.error().message}});
}

void ProcessRuntime::exec(const std::string& uid, const std::string& container,
                          std::vector<std::string> argv, int timeout_seconds,
                          Done<ExecResult> done) {
  const auto place = links_.find(uid);
  if (place == links_.end()) return later([done = std::move(done)] { done(no_sandbox()); });
  JsonArray words;
  for (const std::string& word : argv) words.emplace_back(word);
  JsonObject request{{"do", "exec"}, {"container", container}, {"timeout", timeout_seconds}};
  request["argv"] = std::move(words);
  place->second->request(std::move(request), [done = std::move(done)](Result<Json> answer) {
    if (!answer) return done(answer.error());
    done(ExecResult{static_cast<int>(int_at(*answer, {"code"}).value_or(0)),
                    bool_at(*answer, {"timedOut"}).value_or(false),
                    base64_decode(text_at(*answer, {"output"})).value_or("")});
  });
}

void ProcessRuntime::event(const std::string& uid, const Json& event) {
  const Json* exit = find(event, {"exit"});
  if (exit == nullptr || listener_ == nullptr) return;
  listener_->on_container_exit(uid, text_at(event, {"container"}),
                               static_cast<int>(int_at(event, {"attempt"}).value_or(0)),
                               exit_info(*exit));
}

void ProcessRuntime::closed(const std::string& uid) {
  later([this, uid] {
    const bool wanted = removing_.contains(uid);
    links_.erase(uid);
    if (!wanted && listener_ != nullptr) listener_->on_sandbox_lost(uid);
  });
}

}  // namespace krater::agent
