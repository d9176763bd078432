#include "agent/pod/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/pod/decide.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

using Phase = ContainerState::Phase;

const ContainerState& state_of(const PodState& state, const ContainerSpec& container) {
  static const ContainerState kUntouched;
  const auto place = state.containers.find(container.name);
  return place == state.containers.end() ? kUntouched : place->second;
}

bool alive(const ContainerState& c) {
  return c.phase == Phase::Starting || c.phase == Phase::Running || c.phase == Phase::Stopping;
}
// A container counts as running once its postStart hook has ended.
bool running(const ContainerState& c) {
  return (c.phase == Phase::Running || c.phase == Phase::Stopping) && !c.hook_runs;
}
bool ended(const ContainerState& c) {
  return c.phase == Phase::Exited && c.exit.has_value();
}
// Starting again after a run that failed counts as stopped, not as never started.
bool ran_before(const ContainerState& c) {
  return ended(c) || (alive(c) && !running(c) && c.last_exit);
}

Json terminated(const ExitInfo& exit) {
  JsonObject out;
  if (!exit.container_id.empty()) out["containerID"] = exit.container_id;
  out["exitCode"] = exit.code;
  if (exit.signal != 0) out["signal"] = exit.signal;
  if (!exit.reason.empty()) out["reason"] = exit.reason;
  if (!exit.message.empty()) out["message"] = exit.message;
  if (exit.started != WallTime()) out["startedAt"] = to_rfc3339(exit.started);
  if (exit.finished != WallTime()) out["finishedAt"] = to_rfc3339(exit.finished);
  return Json{{"terminated", std::move(out)}};
}

Json waiting(std::string_view reason, std::string_view message) {
  JsonObject out;
  out["reason"] = reason;
  if (!message.empty()) out["message"] = message;
  return Json{{"waiting", std::move(out)}};
}

bool has_pending_init(const PodSpec& spec, const PodState& state) {
  for (const ContainerSpec& container : spec.containers) {
    const ContainerState& c = state_of(state, container);
    if (container.role == Role::Init && !(ended(c) && c.exit->code == 0)) return true;
    if (container.role == Role::Sidecar && !c.started && !ended(c)) return true;
  }
  return false;
}

Json current_state(const PodSpec& spec, const PodState& state, const ContainerSpec& container,
                   WallTime now) {
  const ContainerState& c = state_of(state, container);
  if (running(c)) return Json{{"running", {{"startedAt", to_rfc3339(c.started_at)}}}};
  if (ended(c)) {
    if (!c.waiting_reason.empty()) return waiting(c.waiting_reason, c.waiting_message);
    if (state.failed_reason.empty() && !state.deleting && in_backoff(spec, container, c, now)) {
      return waiting(
          "CrashLoopBackOff",
          fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                      c.backoff.delay() < std::chrono::minutes(1)
                          ? fmt::format("{}s", c.backoff.delay() / std::chrono::seconds(1))
                          : fmt::format("{}m{}s", c.backoff.delay() / std::chrono::minutes(1),
                                        c.backoff.delay() % std::chrono::minutes(1) /
                                            std::chrono::seconds(1)),
                      container.name, spec.name, spec.name_space, spec.uid));
    }
    return terminated(*c.exit);
  }
  if (!c.waiting_reason.empty()) return waiting(c.waiting_reason, c.waiting_message);
  return waiting(why_not_started(spec, state), {});
}

Json container_status(const PodSpec& spec, const PodState& state, const ContainerSpec& container,
                      WallTime now) {
  const ContainerState& c = state_of(state, container);
  Json current = current_state(spec, state, container, now);
  JsonObject out;
  out["name"] = container.name;
  // The run that lastState tells of: in a crash loop the newest one, for it is over.
  const bool newest_is_last = ended(c) && current.get_object().contains("waiting");
  const std::optional<ExitInfo>& last = newest_is_last ? c.exit : c.last_exit;
  out["lastState"] = last ? terminated(*last) : Json(JsonObject());
  out["state"] = std::move(current);
  const bool init_done = container.role == Role::Init && ended(c) && c.exit->code == 0;
  out["ready"] = init_done || (running(c) && c.ready);
  out["restartCount"] = c.restarts;
  out["image"] = container.image;
  out["imageID"] = c.ever_started ? "krater://" + container.image : "";
  if (!c.container_id.empty()) out["containerID"] = c.container_id;
  out["started"] = running(c) && c.started;
  return Json(std::move(out));
}

struct Verdict {
  bool yes = false;
  std::string reason{}, message{};
};

Verdict ready_verdict(const PodSpec& spec, const PodState& state, const std::string& phase) {
  if (phase == "Succeeded") return {false, "PodCompleted", ""};
  if (phase == "Failed") return {false, "PodFailed", ""};
  std::vector<std::string> unready;
  for (const ContainerSpec& container : spec.containers) {
    if (container.role == Role::Init) continue;
    const ContainerState& c = state_of(state, container);
    if (!(running(c) && c.ready)) unready.push_back(container.name);
  }
  if (unready.empty()) return {true};
  return {false, "ContainersNotReady",
          "containers with unready status: [" + join(unready, " ") + "]"};
}

Verdict initialized_verdict(const PodSpec& spec, const PodState& state, const std::string& phase) {
  if (phase == "Succeeded") return {true, "PodCompleted", ""};
  std::vector<std::string> incomplete;
  for (const ContainerSpec& container : spec.containers) {
    const ContainerState& c = state_of(state, container);
    const bool done =
        container.role == Role::Init ? ended(c) && c.exit->code == 0 : c.started || ended(c);
    if (container.role != Role::Main && !done) incomplete.push_back(container.name);
  }
  if (incomplete.empty()) return {true};
  return {false, "ContainersNotInitialized",
          "containers with incomplete status: [" + join(incomplete, " ") + "]"};
}

// Readiness gates: every named condition must stand as True on the object.
Verdict gates_verdict(const PodSpec& spec, const JsonArray* conditions) {
  const JsonArray* gates = array_at(spec.document, {"spec", "readinessGates"});
  if (gates == nullptr) return {true};
  std::vector<std::string> unmet;
  for (const Json& gate : *gates) {
    const std::string type = text_at(gate, {"conditionType"});
    std::optional<std::string> stands;
    for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
      if (text_at((*conditions)[i], {"type"}) == type)
        stands = text_at((*conditions)[i], {"status"});
    }
    if (!stands) {
      unmet.push_back("corresponding condition of pod readiness gate \"" + type +
                      "\" does not exist.");
    } else if (*stands != "True") {
      unmet.push_back("the status of pod readiness gate \"" + type + "\" is not \"True\", but " +
                      *stands);
    }
  }
  if (unmet.empty()) return {true};
  return {false, "ReadinessGatesNotReady", join(unmet, ", ")};
}

constexpr std::array<std::string_view, 5> kOurConditions{
    "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"};

Json condition(std::string_view type, const Verdict& verdict, const JsonArray* before,
               WallTime now) {
  const std::string_view status = verdict.yes ? "True" : "False";
  std::string since = to_rfc3339(now);
  for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
    const Json& old = (*before)[i];
    if (text_at(old, {"type"}) != type || text_at(old, {"status"}) != status) continue;
    if (const auto time = string_at(old, {"lastTransitionTime"})) since = std::string(*time);
  }
  JsonObject out;
  out["type"] = type;
  out["status"] = status;
  out["lastProbeTime"] = nullptr;
  out["lastTransitionTime"] = since;
  if (!verdict.reason.empty()) out["reason"] = verdict.reason;
  if (!verdict.message.empty()) out["message"] = verdict.message;
  return Json(std::move(out));
}

Json conditions(const PodSpec& spec, const PodState& state, const std::string& phase,
                const Json& current, WallTime now) {
  const JsonArray* before = array_at(current, {"status", "conditions"});
  const Verdict containers_ready = ready_verdict(spec, state, phase);
  const Verdict gates = gates_verdict(spec, before);
  const std::array<Verdict, 5> verdicts{
      Verdict{state.sandbox == PodState::Sandbox::Ready}, initialized_verdict(spec, state, phase),
      containers_ready.yes ? gates : containers_ready, containers_ready, Verdict{true}};
  JsonArray out;
  for (std::size_t i = 0; i < kOurConditions.size(); ++i)
    out.push_back(condition(kOurConditions[i], verdicts[i], before, now));
  for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
    const std::string type = text_at((*before)[i], {"type"});
    if (std::ranges::find(kOurConditions, type) == kOurConditions.end())
      out.push_back((*before)[i]);
  }
  return Json(std::move(out));
}

// What the object says of a container that has ended for good.
const Json* final_status(const Json& current, const ContainerSpec& container) {
  const JsonArray* list = array_at(
      current,
      {"status", container.role == Role::Main ? "containerStatuses" : "initContainerStatuses"});
  if (list == nullptr) return nullptr;
  const auto place = std::ranges::find_if(*list, [&](const Json& one) {
    return text_at(one, {"name"}) == container.name &&
           find(one, {"state", "terminated"}) != nullptr;
  });
  return place == list->end() ? nullptr : &*place;
}

}  // namespace

std::string_view why_not_started(const PodSpec& spec, const PodState& state) {
  return has_pending_init(spec, state) ? "PodInitializing" : "ContainerCreating";
}

std::string pod_phase(const PodSpec& spec, const PodState& state) {
  const bool quiet =
      std::ranges::none_of(state.containers, [](const auto& named) { return alive(named.second); });
  // Final only when nothing runs any more: whoever counts on the pod's resources may have them.
  if (!state.failed_reason.empty() && quiet) return "Failed";
  int run = 0, wait = 0, stopped = 0, succeeded = 0, sidecars_running = 0;
  bool init_pending = false, init_failed = false;
  for (const ContainerSpec& container : spec.containers) {
    const ContainerState& c = state_of(state, container);
    switch (container.role) {
      case Role::Init:
        if (ended(c) && c.exit->code == 0) break;
        (ended(c) && !restarts(spec, container, *c.exit) ? init_failed : init_pending) = true;
        break;
      case Role::Sidecar:
        if (running(c)) ++sidecars_running;
        if (!c.started && !ran_before(c)) init_pending = true;
        break;
      case Role::Main:
        if (running(c)) {
          ++run;
        } else if (ended(c) || ran_before(c)) {
          ++stopped;
          if (ended(c) && c.exit->code == 0) ++succeeded;
        } else {
          ++wait;
        }
        break;
    }
  }
  if (init_failed) return "Failed";
  // A pod that was deleted ends, whatever its policy.
  const bool gone =
      state.sandbox == PodState::Sandbox::None || state.sandbox == PodState::Sandbox::Removed;
  if (state.deleting && quiet && gone)
    return stopped == succeeded && wait == 0 && !init_pending ? "Succeeded" : "Failed";
  if (run == 0 && stopped == 0 && init_pending) return "Pending";
  if (wait > 0) return "Pending";
  if (run > 0 || sidecars_running > 0) return "Running";
  if (spec.restart_policy == RestartPolicy::Always) return "Running";
  if (stopped == succeeded) return "Succeeded";
  return spec.restart_policy == RestartPolicy::Never ? "Failed" : "Running";
}

Json pod_status(const PodSpec& spec, const PodState& state, const Json& current, WallTime now) {
  // A phase that is final is never left, nor what goes with it; what still ran then is told of
  // until it has ended.
  const std::string phase =
      state.terminal_in_api ? text_at(current, {"status", "phase"}) : pod_phase(spec, state);
  JsonObject out;
  if (const JsonObject* before = object_at(current, {"status"})) out = *before;
  for (std::string_view field : {"initContainerStatuses", "containerStatuses"}) out.erase(field);
  if (!state.terminal_in_api) {
    out.erase("reason");
    out.erase("message");
  }
  out["phase"] = phase;
  out["conditions"] = conditions(spec, state, phase, current, now);
  if (!state.failed_reason.empty() && !state.terminal_in_api && phase == "Failed") {
    out["reason"] = state.failed_reason;
    if (!state.failed_message.empty()) out["message"] = state.failed_message;
  }
  if (!state.host_ip.empty()) {
    out["hostIP"] = state.host_ip;
    out["hostIPs"] = Json{{{"ip", state.host_ip}}};
  }
  if (!state.pod_ip.empty()) {
    out["podIP"] = state.pod_ip;
    out["podIPs"] = Json{{{"ip", state.pod_ip}}};
  }
  if (state.started_at) out["startTime"] = to_rfc3339(*state.started_at);
  JsonArray init, main;
  for (const ContainerSpec& container : spec.containers) {
    const Json* final = state.terminal_in_api ? final_status(current, container) : nullptr;
    (container.role == Role::Main ? main : init)
        .push_back(final != nullptr ? *final : container_status(spec, state, container, now));
  }
  if (!init.empty()) out["initContainerStatuses"] = std::move(init);
  out["containerStatuses"] = std::move(main);
  return Json(std::move(out));
}

}  // namespace krater::agent
