// The row of a pod: which of its many states is the one to show.
#include "api/machinery/cells/cells.h"

namespace krater::api::cells {
namespace {

struct Shown {
  std::string status;
  std::int64_t ready = 0, restarts = 0, sidecar_restarts = 0;
  std::optional<WallTime> last_restart, last_sidecar_restart;
  bool initializing = false;
};

void note_restart(const Json& container, std::int64_t& restarts, std::optional<WallTime>& last) {
  restarts += int_at(container, {"restartCount"}).value_or(0);
  const auto finished =
      parse_rfc3339(text_at(container, {"lastState", "terminated", "finishedAt"}));
  if (finished && (!last || *finished > *last)) last = finished;
}

// "Error" or, without a reason, "Signal:9" / "ExitCode:1".
std::string termination(const Json& container) {
  const std::string reason = text_at(container, {"state", "terminated", "reason"});
  if (!reason.empty()) return reason;
  const auto signal = int_at(container, {"state", "terminated", "signal"}).value_or(0);
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" +
         std::to_string(int_at(container, {"state", "terminated", "exitCode"}).value_or(0));
}

bool is_sidecar(const Json& pod, const std::string& container) {
  const JsonArray* specs = array_at(pod, {"spec", "initContainers"});
  if (specs == nullptr) return false;
  for (const Json& spec : *specs) {
    if (text_at(spec, {"name"}) == container) return text_at(spec, {"restartPolicy"}) == "Always";
  }
  return false;
}

// What holds up the init containers; "" when this one is done.
std::string init_status(const Json& container, bool sidecar, std::size_t index, std::size_t total) {
  if (find(container, {"state", "terminated"}) != nullptr) {
    const bool succeeded = int_at(container, {"state", "terminated", "exitCode"}).value_or(0) == 0;
    return succeeded ? std::string() : "Init:" + termination(container);
  }
  if (sidecar && bool_at(container, {"started"}).value_or(false)) return {};
  const std::string waiting = text_at(container, {"state", "waiting", "reason"});
  if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
  return "Init:" + std::to_string(index) + "/" + std::to_string(total);
}

void show_init_containers(const Json& pod, Shown& shown) {
  const JsonArray* statuses = array_at(pod, {"status", "initContainerStatuses"});
  if (statuses == nullptr) return;
  const JsonArray* specs = array_at(pod, {"spec", "initContainers"});
  const std::size_t total = specs == nullptr ? statuses->size() : specs->size();
  for (std::size_t i = 0; i < statuses->size(); ++i) {
    const Json& container = (*statuses)[i];
    const bool sidecar = is_sidecar(pod, text_at(container, {"name"}));
    note_restart(container, shown.restarts, shown.last_restart);
    if (sidecar) note_restart(container, shown.sidecar_restarts, shown.last_sidecar_restart);
    std::string status = init_status(container, sidecar, i, total);
    if (status.empty()) {
      if (sidecar && bool_at(container, {"ready"}).value_or(false)) ++shown.ready;
      continue;
    }
    shown.status = std::move(status);
    shown.initializing = true;
    return;
  }
}

void show_containers(const Json& pod, Shown& shown) {
  shown.restarts = shown.sidecar_restarts;
  shown.last_restart = shown.last_sidecar_restart;
  bool running = false;
  const JsonArray* statuses = array_at(pod, {"status", "containerStatuses"});
  for (std::size_t i = statuses == nullptr ? 0 : statuses->size(); i-- > 0;) {
    const Json& container = (*statuses)[i];
    note_restart(container, shown.restarts, shown.last_restart);
    const std::string waiting = text_at(container, {"state", "waiting", "reason"});
    if (!waiting.empty()) {
      shown.status = waiting;
    } else if (find(container, {"state", "terminated"}) != nullptr) {
      shown.status = termination(container);
    } else if (bool_at(container, {"ready"}).value_or(false) &&
               find(container, {"state", "running"}) != nullptr) {
      running = true;
      ++shown.ready;
    }
  }
  if (shown.status == "Completed" && running) {
    shown.status = condition_status(pod, "Ready") == "True" ? "Running" : "NotReady";
  }
}

bool is_gated(const Json& pod) {
  const JsonArray* conditions = array_at(pod, {"status", "conditions"});
  if (conditions == nullptr) return false;
  for (const Json& condition : *conditions) {
    if (text_at(condition, {"type"}) == "PodScheduled" &&
        text_at(condition, {"reason"}) == "SchedulingGated")
      return true;
  }
  return false;
}

Shown show(const Json& pod) {
  Shown shown;
  const std::string phase = text_at(pod, {"status", "phase"}),
                    reason = text_at(pod, {"status", "reason"});
  shown.status = is_gated(pod) ? "SchedulingGated" : reason.empty() ? phase : reason;
  show_init_containers(pod, shown);
  if (!shown.initializing || condition_status(pod, "Initialized") == "True")
    show_containers(pod, shown);
  if (find(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    if (reason == "NodeLost") {
      shown.status = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      shown.status = "Terminating";
    }
  }
  return shown;
}

std::size_t counted_containers(const Json& pod) {
  const JsonArray* containers = array_at(pod, {"spec", "containers"});
  std::size_t total = containers == nullptr ? 0 : containers->size();
  if (const JsonArray* init = array_at(pod, {"spec", "initContainers"})) {
    for (const Json& container : *init)
      total += text_at(container, {"restartPolicy"}) == "Always" ? 1 : 0;
  }
  return total;
}

std::string readiness_gates(const Json& pod) {
  const JsonArray* gates = array_at(pod, {"spec", "readinessGates"});
  if (gates == nullptr || gates->empty()) return "<none>";
  std::size_t open = 0;
  for (const Json& gate : *gates)
    open += condition_status(pod, text_at(gate, {"conditionType"})) == "True" ? 1 : 0;
  return std::to_string(open) + "/" + std::to_string(gates->size());
}

}  // namespace

JsonArray pod(const Json& object, WallTime now) {
  const Shown shown = show(object);
  std::string restarts = std::to_string(shown.restarts);
  if (shown.restarts > 0 && shown.last_restart)
    restarts += " (" + human_duration(now - *shown.last_restart) + " ago)";
  const JsonArray* ips = array_at(object, {"status", "podIPs"});
  const std::string ip =
      ips == nullptr || ips->empty() ? std::string() : text_at((*ips)[0], {"ip"});
  return {Json(name(object)),
          Json(std::to_string(shown.ready) + "/" + std::to_string(counted_containers(object))),
          Json(shown.status),
          Json(restarts),
          Json(age(object, now)),
          Json(or_none(ip)),
          Json(or_none(text_at(object, {"spec", "nodeName"}))),
          Json(or_none(text_at(object, {"status", "nominatedNodeName"}))),
          Json(readiness_gates(object))};
}

}  // namespace krater::api::cells
