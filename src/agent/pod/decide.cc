#include "agent/pod/decide.h"

#include <algorithm>

namespace krater::agent {
namespace {

using Phase = ContainerState::Phase;

const ContainerState& state_of(const PodState& state, const ContainerSpec& container) {
  static const ContainerState kUntouched;
  const auto place = state.containers.find(container.name);
  return place == state.containers.end() ? kUntouched : place->second;
}

bool alive(const ContainerState& container) {
  return container.phase == Phase::Starting || container.phase == Phase::Running ||
         container.phase == Phase::Stopping;
}

void wake_at(Decision& decision, WallTime when) {
  decision.again_at = decision.again_at ? std::min(*decision.again_at, when) : when;
}

// Starts the container now, or notes when it may start.
void start_when_due(Decision& out, const ContainerSpec& container, const ContainerState& state,
                    WallTime now) {
  WallTime due = state.retry_at.value_or(WallTime());
  if (state.phase == Phase::Exited && state.exit)
    due = std::max(due, state.backoff.ready_at(state.exit->finished));
  if (due > now) return wake_at(out, due);
  out.actions.push_back({Action::Do::StartContainer, container.name});
}

// Stops what runs: main and init containers first, then sidecars in reverse order. True when
// nothing is left.
bool stop_all(Decision& out, const PodSpec& spec, const PodState& state,
              std::int64_t grace_seconds) {
  bool mains_alive = false;
  for (const ContainerSpec& container : spec.containers) {
    const ContainerState& c = state_of(state, container);
    if (container.role == Role::Sidecar || !alive(c)) continue;
    mains_alive = true;
    if (c.phase == Phase::Running)
      out.actions.push_back({Action::Do::StopContainer, container.name, grace_seconds});
  }
  if (mains_alive) return false;
  for (auto place = spec.containers.rbegin(); place != spec.containers.rend(); ++place) {
    const ContainerState& c = state_of(state, *place);
    if (!alive(c)) continue;
    if (c.phase == Phase::Running)
      out.actions.push_back({Action::Do::StopContainer, place->name, grace_seconds});
    return false;
  }
  return true;
}

Decision tear_down(const PodSpec& spec, const PodState& state, std::int64_t grace_seconds) {
  Decision out;
  if (!stop_all(out, spec, state, grace_seconds)) return out;
  switch (state.sandbox) {
    case PodState::Sandbox::Ready:
      out.actions.push_back({Action::Do::RemoveSandbox});
      break;
    case PodState::Sandbox::None:
    case PodState::Sandbox::Removed:
      out.finished = true;
      break;
    case PodState::Sandbox::Creating:
    case PodState::Sandbox::Removing:
      break;
  }
  return out;
}

enum class Init { Done, Underway, Failed };

// Walks the init containers in order; adds what is due for the first one that is not through.
Init init_step(Decision& out, const PodSpec& spec, const PodState& state, WallTime now) {
  for (const ContainerSpec& container : spec.containers) {
    if (container.role == Role::Main) return Init::Done;
    const ContainerState& c = state_of(state, container);
    if (container.role == Role::Sidecar) {
      if (!alive(c)) start_when_due(out, container, c, now);
      if (c.phase == Phase::Running && c.started) continue;
      return Init::Underway;
    }
    if (c.phase == Phase::Exited && c.exit->code == 0) continue;
    if (c.phase == Phase::Exited && !restarts(spec, container, *c.exit)) return Init::Failed;
    if (!alive(c)) start_when_due(out, container, c, now);
    return Init::Underway;
  }
  return Init::Done;
}

bool any_main_touched(const PodSpec& spec, const PodState& state) {
  return std::ranges::any_of(spec.containers, [&](const ContainerSpec& container) {
    return container.role == Role::Main && state_of(state, container).phase != Phase::Waiting;
  });
}

}  // namespace

bool restarts(const PodSpec& spec, const ContainerSpec& container, const ExitInfo& exit) {
  if (container.role == Role::Sidecar) return true;
  switch (spec.restart_policy) {
    case RestartPolicy::Always:
      return container.role == Role::Main || exit.code != 0;
    case RestartPolicy::OnFailure:
      return exit.code != 0;
    case RestartPolicy::Never:
      return false;
  }
  return false;
}

bool in_backoff(const PodSpec& spec, const ContainerSpec& container, const ContainerState& state,
                WallTime now) {
  return state.phase == Phase::Exited && state.exit && restarts(spec, container, *state.exit) &&
         state.backoff.ready_at(state.exit->finished) > now;
}

Decision decide(const PodSpec& spec, const PodState& state, WallTime now) {
  if (state.deleting) return tear_down(spec, state, state.grace_seconds);
  if (state.terminal_in_api || !state.failed_reason.empty())
    return tear_down(spec, state, state.failed_grace_seconds.value_or(spec.grace_seconds));

  Decision out;
  if (spec.active_deadline_seconds && state.started_at) {
    const WallTime deadline =
        *state.started_at + std::chrono::seconds(*spec.active_deadline_seconds);
    if (deadline <= now) {
      out.deadline_exceeded = true;
      return out;
    }
    wake_at(out, deadline);
  }

  // A pod whose main containers have all ended for good is over, whatever happened to its sandbox
  // meanwhile.
  bool mains_over = true;
  for (const ContainerSpec& container : spec.containers) {
    if (container.role != Role::Main) continue;
    const ContainerState& c = state_of(state, container);
    if (c.phase != Phase::Exited || restarts(spec, container, *c.exit)) mains_over = false;
  }
  if (mains_over) return tear_down(spec, state, spec.grace_seconds);

  switch (state.sandbox) {
    case PodState::Sandbox::None:
    case PodState::Sandbox::Removed:
      if (state.sandbox_retry_at && *state.sandbox_retry_at > now) {
        wake_at(out, *state.sandbox_retry_at);
      } else {
        out.actions.push_back({Action::Do::CreateSandbox});
      }
      return out;
    case PodState::Sandbox::Creating:
    case PodState::Sandbox::Removing:
      return out;
    case PodState::Sandbox::Ready:
      break;
  }

  if (any_main_touched(spec, state)) {
    // Initialised before: only sidecars of the init list are looked after from here on.
    for (const ContainerSpec& container : spec.containers) {
      const ContainerState& c = state_of(state, container);
      if (container.role == Role::Sidecar && !alive(c)) start_when_due(out, container, c, now);
    }
  } else {
    switch (init_step(out, spec, state, now)) {
      case Init::Underway:
        return out;
      case Init::Failed:
        return tear_down(spec, state, spec.grace_seconds);
      case Init::Done:
        break;
    }
  }
  for (const ContainerSpec& container : spec.containers) {
    if (container.role != Role::Main) continue;
    const ContainerState& c = state_of(state, container);
    // Containers start in order: what comes later waits for the hooks of what came before.
    if (container.post_start && (c.phase == Phase::Starting || c.hook_runs)) return out;
    if (alive(c) || (c.phase == Phase::Exited && !restarts(spec, container, *c.exit))) continue;
    const std::size_t before = out.actions.size();
    start_when_due(out, container, c, now);
    if (container.post_start && out.actions.size() > before) return out;
  }
  return out;
}

}  // namespace krater::agent
