#include "agent/pod/adopt.h"

namespace krater::agent {
namespace {

using Phase = ContainerState::Phase;

ExitInfo from_status(const ContainerStatus::Exit& exit) {
  ExitInfo out;
  out.code = static_cast<int>(exit.code);
  out.signal = static_cast<int>(exit.signal);
  out.reason = exit.reason;
  out.message = exit.message;
  out.started = exit.started.value_or(WallTime());
  out.finished = exit.finished.value_or(WallTime());
  return out;
}

void from_api(const ContainerStatus& status, WallTime now, ContainerState& out) {
  out.restarts = static_cast<int>(status.restarts);
  out.container_id = status.container_id;
  if (status.last_exit) out.last_exit = from_status(*status.last_exit);
  switch (status.state) {
    case ContainerStatus::State::Running:
      out.phase = Phase::Running;
      out.ever_started = true;
      out.started_at = status.running_since.value_or(now);
      lose_container(out, now);
      break;
    case ContainerStatus::State::Terminated:
      out.phase = Phase::Exited;
      out.ever_started = true;
      out.exit = status.exit ? from_status(*status.exit) : ExitInfo{};
      break;
    case ContainerStatus::State::Waiting:
      // In a crash loop: its newest run is what lastState tells.
      if (!out.last_exit) break;
      out.phase = Phase::Exited;
      out.ever_started = true;
      out.exit = std::move(out.last_exit);
      out.last_exit.reset();
      break;
  }
}

void from_runtime(const RunningContainer& found, const ContainerStatus* status,
                  const ContainerSpec& spec, ContainerState& out) {
  out.restarts = found.attempt;
  out.container_id = found.container_id;
  out.started_at = found.started_at;
  out.ever_started = true;
  out.exit = found.exit;
  out.last_exit = found.last_exit;
  out.phase = found.exit ? Phase::Exited : Phase::Running;
  if (found.exit) return;
  // Probes go on from what they had found out.
  const bool same_run = status != nullptr && status->restarts == found.attempt;
  out.started = !spec.startup || (same_run && status->ready);
  out.ready = out.started && (!spec.readiness || (same_run && status->ready));
}

}  // namespace

namespace {

ExitInfo unseen_end() {
  ExitInfo out;
  out.code = 137;
  out.reason = "ContainerStatusUnknown";
  out.message = "The container could not be located when the pod was terminated";
  return out;
}

}  // namespace

void lose_container(ContainerState& container, WallTime now) {
  if (container.phase == Phase::Exited || container.phase == Phase::Waiting) return;
  if (container.phase == Phase::Starting && !container.ever_started) {
    container.phase = Phase::Waiting;
    return;
  }
  ExitInfo exit = unseen_end();
  exit.started = container.started_at;
  exit.finished = now;
  exit.container_id = container.container_id;
  container.exit = std::move(exit);
  container.phase = Phase::Exited;
  container.started = container.ready = container.hook_runs = false;
}

void settle_containers(const PodSpec& spec, PodState& state) {
  for (const ContainerSpec& container : spec.containers) {
    ContainerState& c = state.containers[container.name];
    c.waiting_reason.clear();
    c.waiting_message.clear();
    if (container.role == Role::Init && !(c.exit && c.exit->code == 0)) return;
    if (container.role == Role::Sidecar && !c.ever_started) return;
    if (c.phase != Phase::Waiting) continue;
    c.exit = unseen_end();
    c.phase = Phase::Exited;
  }
}

void adopt_state(const PodSpec& spec, const PodView& pod, const Sandbox* adopted, WallTime now,
                 PodState& state) {
  if (pod.phase() == PodPhase::Failed && !pod.status_reason().empty()) {
    state.failed_reason = pod.status_reason();
    state.failed_message = pod.status_message();
  }
  state.terminal_in_api = pod.finished();
  if (adopted != nullptr) {
    state.sandbox = PodState::Sandbox::Ready;  // also a dead one: it has to be removed
    state.pod_ip = adopted->ip;
  }
  if (state.pod_ip.empty()) state.pod_ip = pod.pod_ip();
  std::vector<ContainerStatus> statuses = pod.container_statuses();
  for (ContainerStatus& one : pod.init_container_statuses()) statuses.push_back(std::move(one));
  for (const ContainerSpec& container : spec.containers) {
    ContainerState& out = state.containers[container.name];
    const ContainerStatus* status = nullptr;
    for (const ContainerStatus& one : statuses) {
      if (one.name == container.name) status = &one;
    }
    const RunningContainer* found = nullptr;
    for (std::size_t i = 0; adopted != nullptr && i < adopted->containers.size(); ++i) {
      if (adopted->containers[i].name == container.name) found = &adopted->containers[i];
    }
    if (found != nullptr) {
      from_runtime(*found, status, container, out);
      if (!adopted->alive) lose_container(out, now);
    } else if (status != nullptr) {
      from_api(*status, now, out);
    }
  }
}

std::optional<ToldByApi> told_by_api(const PodView& pod) {
  if (pod.phase() != PodPhase::Running) return std::nullopt;
  const PodSpec spec = read_pod_spec(pod.document());
  std::vector<ContainerStatus> statuses = pod.container_statuses();
  for (ContainerStatus& one : pod.init_container_statuses()) statuses.push_back(std::move(one));
  ToldByApi out;
  out.sandbox.uid = spec.uid;
  out.sandbox.ip = pod.pod_ip();
  for (const ContainerStatus& status : statuses) {
    const ContainerSpec* container = spec.container(status.name);
    if (container == nullptr || status.state != ContainerStatus::State::Running) continue;
    if (!status.running_since) continue;
    Recalled& one = out.running.emplace_back();
    one.run.name = status.name;
    one.run.image = container->image;
    one.run.role = container->role;
    one.run.attempt = static_cast<int>(status.restarts);
    one.run.argv = container->command_line();
    one.started = {status.container_id, *status.running_since};
    RunningContainer& running = out.sandbox.containers.emplace_back();
    running.name = status.name;
    running.attempt = one.run.attempt;
    running.container_id = status.container_id;
    running.started_at = *status.running_since;
    if (status.last_exit) running.last_exit = from_status(*status.last_exit);
  }
  if (out.running.empty()) return std::nullopt;
  return out;
}

}  // namespace krater::agent
