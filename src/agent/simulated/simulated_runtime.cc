#include "agent/simulated/simulated_runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "model/keys.h"

namespace krater::agent {
namespace {

std::optional<Duration> duration_order(const Labels& annotations, std::string_view key) {
  const auto place = annotations.find(key);
  return place == annotations.end() ? std::nullopt : parse_go_duration(place->second);
}

constexpr std::uint32_t kFirstOfAgents = 64U << 16;  // 10.128.0.0
constexpr std::uint32_t kEnd = 192U << 16;           // behind 10.255.255.255

std::uint32_t after(std::uint32_t address) {
  return address + 1 < kEnd ? address + 1 : kFirstOfAgents + 1;
}

std::string text_of(std::uint32_t address) {
  return fmt::format("10.{}.{}.{}", 64 + (address >> 16), (address >> 8) & 255, address & 255);
}

void cancel_timers(Loop& loop, Loop::TimerId one, Loop::TimerId other) {
  loop.cancel(one);
  loop.cancel(other);
}

}  // namespace

std::uint32_t first_address_of(std::string_view node) {
  constexpr std::uint32_t kBlocks = 1U << 15, kBlock = 256;
  return kFirstOfAgents + static_cast<std::uint32_t>(fnv1a(node) % kBlocks) * kBlock;
}

SimulatedRuntime::~SimulatedRuntime() {
  for (auto& [uid, pod] : sandboxes_) {
    for (auto& [name, run] : pod.runs) cancel_timers(loop_, run.timer, run.kill);
  }
}

void SimulatedRuntime::list(Done<std::vector<Sandbox>> done) {
  loop_.post([done = std::move(done)] { done(std::vector<Sandbox>()); });
}

SimulatedRuntime::Pod& SimulatedRuntime::book(const SandboxSpec& spec) {
  Pod& pod = sandboxes_[spec.uid];
  pod.start_delay = duration_order(spec.annotations, keys::kSimStartDelay).value_or(Duration(0));
  pod.run_time = duration_order(spec.annotations, keys::kSimRunTime);
  if (const auto code = spec.annotations.find(keys::kSimExitCode); code != spec.annotations.end()) {
    pod.exit_code = static_cast<int>(parse_int(code->second).value_or(0)) & 255;
  }
  return pod;
}

void SimulatedRuntime::create_sandbox(SandboxSpec spec, Done<Sandbox> done) {
  last_address_ = after(last_address_);
  Pod& pod = book(spec);
  pod.ip = text_of(last_address_);
  Sandbox out;
  out.uid = spec.uid;
  out.ip = pod.ip;
  loop_.post([done = std::move(done), out = std::move(out)] { done(out); });
}

// As if it had run all the time: what was to end meanwhile ends now.
bool SimulatedRuntime::recall(const SandboxSpec& spec, const std::string& ip,
                              const std::vector<Recalled>& running) {
  Pod& pod = book(spec);
  pod.ip = ip;
  const std::vector<std::string_view> parts = split(ip, '.');
  std::uint32_t n = 0;
  for (const std::string_view part : parts)
    n = n << 8 | static_cast<std::uint32_t>(parse_int(part).value_or(0));
  // Addresses given before are not given again.
  n = (n & 0xffffff) - (64U << 16);
  if (parts.size() == 4 && n < kEnd) last_address_ = std::max(last_address_, n);
  for (const Recalled& one : running) {
    Run& run = pod.runs[one.run.name];
    run.spec = one.run;
    run.started = one.started;
    run.course = course_of(pod, one.run);
    end_in_time(spec.uid, run);
  }
  return true;
}

// Init containers whose command nobody knows end at once.
Course SimulatedRuntime::course_of(const Pod& pod, const ContainerRun& run) const {
  if (run.role == Role::Main && pod.run_time) return {pod.run_time, pod.exit_code, false};
  Course out = read_course(run.argv, programs_);
  if (run.role == Role::Init && !out.lasts) out.lasts = Duration(0);
  return out;
}

void SimulatedRuntime::end_in_time(const std::string& uid, Run& run) {
  if (!run.course.lasts) return;
  const Duration left =
      std::max<Duration>(run.started.at + *run.course.lasts - clock_.now(), Duration(0));
  run.timer = loop_.after(left, [this, uid, container = run.spec.name,
                                 code = run.course.exit_code] { end(uid, container, code, 0); });
}

void SimulatedRuntime::start_container(const std::string& uid, ContainerRun spec,
                                       Done<Started> done) {
  const auto pod = sandboxes_.find(uid);
  if (pod == sandboxes_.end()) {
    loop_.post(
        [done = std::move(done)] { done(make_error(Code::Unavailable, "the sandbox is gone")); });
    return;
  }
  const std::string name = spec.name;
  Run& made = pod->second.runs[name];
  made.course = course_of(pod->second, spec);
  made.spec = std::move(spec);
  made.starting = std::move(done);
  const Duration delay = made.spec.role == Role::Main ? pod->second.start_delay : Duration(0);
  made.timer = loop_.after(delay, [this, uid, name] { run(uid, name); });
}

void SimulatedRuntime::run(const std::string& uid, const std::string& container) {
  Pod& pod = sandboxes_.at(uid);
  Run& run = pod.runs.at(container);
  run.timer = 0;
  run.started = {fmt::format("simulated://{}/{}/{}", uid, container, run.spec.attempt),
                 clock_.now()};
  end_in_time(uid, run);
  const Done<Started> done = std::move(run.starting);
  run.starting = nullptr;
  const Started started = run.started;
  done(started);
}

void SimulatedRuntime::end(const std::string& uid, const std::string& container, int code,
                           int signal) {
  const auto pod = sandboxes_.find(uid);
  if (pod == sandboxes_.end()) return;
  const auto place = pod->second.runs.find(container);
  if (place == pod->second.runs.end()) return;
  const Run ended = std::move(place->second);
  cancel_timers(loop_, ended.timer, ended.kill);
  pod->second.runs.erase(place);
  ExitInfo exit;
  exit.code = code;
  exit.signal = signal;
  exit.reason = code == 0 ? "Completed" : "Error";
  exit.started = ended.started.at;
  exit.finished = clock_.now();
  exit.container_id = ended.started.container_id;
  if (listener_ != nullptr) listener_->on_container_exit(uid, container, ended.spec.attempt, exit);
}

void SimulatedRuntime::stop_container(const std::string& uid, const std::string& container,
                                      std::int64_t grace_seconds) {
  loop_.post([this, uid, container, grace_seconds] { stop(uid, container, grace_seconds); });
}

void SimulatedRuntime::stop(const std::string& uid, const std::string& container,
                            std::int64_t grace_seconds) {
  const auto pod = sandboxes_.find(uid);
  if (pod == sandboxes_.end()) return;
  const auto place = pod->second.runs.find(container);
  if (place == pod->second.runs.end()) return;
  Run& run = place->second;
  if (run.starting || !run.course.ignores_term) return end(uid, container, 143, 0);
  const Duration grace = std::chrono::seconds(std::max<std::int64_t>(grace_seconds, 0));
  const WallTime at = clock_.now() + grace;
  if (run.killed_at && *run.killed_at <= at) return;
  loop_.cancel(run.kill);
  run.killed_at = at;
  run.kill = loop_.after(grace, [this, uid, container] { end(uid, container, 137, 0); });
}

void SimulatedRuntime::drop(const std::string& uid) {
  const auto place = sandboxes_.find(uid);
  if (place == sandboxes_.end()) return;
  for (auto& [name, run] : place->second.runs) cancel_timers(loop_, run.timer, run.kill);
  sandboxes_.erase(place);
}

void SimulatedRuntime::remove_sandbox(const std::string& uid, Done<bool> done) {
  drop(uid);
  loop_.post([done = std::move(done)] { done(true); });
}

void SimulatedRuntime::exec(const std::string&, const std::string&, std::vector<std::string>, int,
                            Done<ExecResult> done) {
  loop_.post([done = std::move(done)] { done(ExecResult{}); });
}

}  // namespace krater::agent
