#include "model/pod.h"

#include "base/check.h"
#include "model/keys.h"

namespace krater {
namespace {

const JsonArray& array_or_empty(const Json& document, JsonPath path) {
  static const JsonArray empty;
  const JsonArray* list = array_at(document, path);
  return list == nullptr ? empty : *list;
}

std::optional<WallTime> time_of(const Json& json, JsonPath path) {
  const auto text = string_at(json, path);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

std::optional<ContainerStatus::Exit> exit_of(const Json* terminated) {
  if (terminated == nullptr || !terminated->is_object()) return std::nullopt;
  return ContainerStatus::Exit{int_at(*terminated, {"exitCode"}).value_or(0),
                               int_at(*terminated, {"signal"}).value_or(0),
                               text_at(*terminated, {"reason"}),
                               text_at(*terminated, {"message"}),
                               time_of(*terminated, {"startedAt"}),
                               time_of(*terminated, {"finishedAt"})};
}

ContainerStatus container_status(const Json& json) {
  ContainerStatus out;
  out.name = text_at(json, {"name"});
  out.image = text_at(json, {"image"});
  out.container_id = text_at(json, {"containerID"});
  out.ready = bool_at(json, {"ready"}).value_or(false);
  out.restarts = int_at(json, {"restartCount"}).value_or(0);
  out.exit = exit_of(find(json, {"state", "terminated"}));
  out.last_exit = exit_of(find(json, {"lastState", "terminated"}));
  if (out.exit) {
    out.state = ContainerStatus::State::Terminated;
  } else if (object_at(json, {"state", "running"}) != nullptr) {
    out.state = ContainerStatus::State::Running;
    out.running_since = time_of(json, {"state", "running", "startedAt"});
  } else {
    out.waiting_reason = text_at(json, {"state", "waiting", "reason"});
    out.waiting_message = text_at(json, {"state", "waiting", "message"});
  }
  return out;
}

std::vector<ContainerStatus> container_statuses_of(const Json& document, std::string_view list) {
  std::vector<ContainerStatus> out;
  for (const Json& status : array_or_empty(document, {"status", list})) {
    out.push_back(container_status(status));
  }
  return out;
}

void add_host_ports(const Json& container, bool host_network, std::vector<HostPort>& out) {
  for (const Json& port : array_or_empty(container, {"ports"})) {
    std::int64_t number = int_at(port, {"hostPort"}).value_or(0);
    if (number == 0 && host_network) number = int_at(port, {"containerPort"}).value_or(0);
    if (number <= 0) continue;
    std::string ip = text_at(port, {"hostIP"});
    std::string protocol = text_at(port, {"protocol"});
    out.push_back({ip.empty() ? "0.0.0.0" : std::move(ip),
                   protocol.empty() ? "TCP" : std::move(protocol), number});
  }
}

}  // namespace

std::string_view to_text(PodPhase phase) {
  switch (phase) {
    case PodPhase::Pending:
      return "Pending";
    case PodPhase::Running:
      return "Running";
    case PodPhase::Succeeded:
      return "Succeeded";
    case PodPhase::Failed:
      return "Failed";
    case PodPhase::Unknown:
      return "Unknown";
  }
  CHECK(false);
}

bool Toleration::tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (op == "Exists") return true;
  return !key.empty() && value == taint.value;
}

const Json& PodView::spec() const {
  static const Json empty(boost::json::object_kind);
  const Json* found = find(document(), {"spec"});
  return found == nullptr ? empty : *found;
}

PodPhase PodView::phase() const {
  const std::string_view phase = string({"status", "phase"}).value_or("Pending");
  for (const PodPhase known :
       {PodPhase::Running, PodPhase::Succeeded, PodPhase::Failed, PodPhase::Unknown}) {
    if (phase == to_text(known)) return known;
  }
  return PodPhase::Pending;
}

std::string PodView::scheduler_name() const {
  std::string name = text({"spec", "schedulerName"});
  return name.empty() ? std::string(keys::kDefaultScheduler) : name;
}

std::string PodView::restart_policy() const {
  std::string policy = text({"spec", "restartPolicy"});
  return policy.empty() ? "Always" : policy;
}

std::int64_t PodView::termination_grace_s() const {
  return integer({"spec", "terminationGracePeriodSeconds"}).value_or(30);
}

std::vector<Toleration> PodView::tolerations() const {
  return tolerations_from(array_at(document(), {"spec", "tolerations"}));
}

std::vector<std::string> PodView::scheduling_gates() const {
  std::vector<std::string> out;
  for (const Json& gate : array_or_empty(document(), {"spec", "schedulingGates"})) {
    out.push_back(text_at(gate, {"name"}));
  }
  return out;
}

std::vector<HostPort> PodView::host_ports() const {
  std::vector<HostPort> out;
  for (const Json& container : containers()) add_host_ports(container, host_network(), out);
  for (const Json& container : init_containers()) {
    if (text_at(container, {"restartPolicy"}) == "Always")
      add_host_ports(container, host_network(), out);
  }
  return out;
}

const JsonArray& PodView::containers() const {
  return array_or_empty(document(), {"spec", "containers"});
}
const JsonArray& PodView::init_containers() const {
  return array_or_empty(document(), {"spec", "initContainers"});
}

bool PodView::ready() const {
  const auto ready = condition("Ready");
  return ready && ready->is_true();
}

std::vector<ContainerStatus> PodView::container_statuses() const {
  return container_statuses_of(document(), "containerStatuses");
}
std::vector<ContainerStatus> PodView::init_container_statuses() const {
  return container_statuses_of(document(), "initContainerStatuses");
}

std::vector<Taint> taints_from(const JsonArray* list) {
  std::vector<Taint> out;
  if (list == nullptr) return out;
  for (const Json& taint : *list) {
    out.push_back({text_at(taint, {"key"}), text_at(taint, {"value"}), text_at(taint, {"effect"})});
  }
  return out;
}

std::vector<Toleration> tolerations_from(const JsonArray* list) {
  std::vector<Toleration> out;
  if (list == nullptr) return out;
  for (const Json& json : *list) {
    Toleration toleration{text_at(json, {"key"}), text_at(json, {"operator"}),
                          text_at(json, {"value"}), text_at(json, {"effect"}),
                          int_at(json, {"tolerationSeconds"})};
    if (toleration.op.empty()) toleration.op = "Equal";
    out.push_back(std::move(toleration));
  }
  return out;
}

}  // namespace krater
