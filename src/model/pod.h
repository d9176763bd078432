// Reading a Pod. Defaults are those of the API server, so that a template reads as the pod made
// from it would.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"

namespace krater {

enum class PodPhase { Pending, Running, Succeeded, Failed, Unknown };
std::string_view to_text(PodPhase phase);

struct Taint {
  std::string key, value, effect;  // "NoSchedule", "PreferNoSchedule", "NoExecute"
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;                        // "" with op "Exists": every taint
  std::string op = "Equal";               // "Equal", "Exists"
  std::string value, effect;              // effect "": every effect
  std::optional<std::int64_t> seconds{};  // NoExecute: how long

  bool tolerates(const Taint& taint) const;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct HostPort {
  std::string ip;        // "0.0.0.0": all addresses
  std::string protocol;  // "TCP", "UDP", "SCTP"
  std::int64_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

struct ContainerStatus {
  enum class State { Waiting, Running, Terminated };
  struct Exit {
    std::int64_t code = 0, signal = 0;
    std::string reason, message;
    std::optional<WallTime> started{}, finished{};
  };

  std::string name, image, container_id;
  State state = State::Waiting;
  std::string waiting_reason, waiting_message;  // of State::Waiting
  std::optional<WallTime> running_since{};      // of State::Running
  std::optional<Exit> exit{};                   // of State::Terminated
  std::optional<Exit> last_exit{};              // lastState.terminated
  bool ready = false;
  std::int64_t restarts = 0;
};

class PodView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  const Json& spec() const;  // an empty object when there is none

  // Absent or unknown text: Pending.
  PodPhase phase() const;
  bool finished() const { return phase() == PodPhase::Succeeded || phase() == PodPhase::Failed; }
  bool deleting() const { return object() && object()->deletion().has_value(); }
  std::string status_reason() const { return text({"status", "reason"}); }
  std::string status_message() const { return text({"status", "message"}); }

  NodeName node_name() const { return NodeName(text({"spec", "nodeName"})); }
  NodeName nominated_node() const { return NodeName(text({"status", "nominatedNodeName"})); }
  std::string scheduler_name() const;  // "default-scheduler" when absent
  std::optional<std::int64_t> priority() const { return integer({"spec", "priority"}); }
  std::string priority_class_name() const { return text({"spec", "priorityClassName"}); }
  std::string restart_policy() const;  // "Always" when absent
  std::string service_account() const { return text({"spec", "serviceAccountName"}); }
  bool host_network() const { return boolean({"spec", "hostNetwork"}).value_or(false); }
  std::int64_t termination_grace_s() const;  // 30 when absent
  std::optional<std::int64_t> active_deadline_s() const {
    return integer({"spec", "activeDeadlineSeconds"});
  }

  Labels node_selector() const { return string_map(find(document(), {"spec", "nodeSelector"})); }
  // spec.affinity.nodeAffinity, or nullptr.
  const Json* node_affinity() const {
    return find(document(), {"spec", "affinity", "nodeAffinity"});
  }
  std::vector<Toleration> tolerations() const;
  std::vector<std::string> scheduling_gates() const;
  // Ports asked for on the node, from all containers and sidecars. With hostNetwork every
  // containerPort is one.
  std::vector<HostPort> host_ports() const;
  const JsonArray& containers() const;
  const JsonArray& init_containers() const;

  std::string pod_ip() const { return text({"status", "podIP"}); }
  std::string host_ip() const { return text({"status", "hostIP"}); }
  std::optional<WallTime> started() const { return time({"status", "startTime"}); }
  std::vector<Condition> conditions() const { return conditions_of(document()); }
  std::optional<Condition> condition(std::string_view type) const {
    return condition_of(document(), type);
  }
  // Condition Ready is True.
  bool ready() const;
  std::vector<ContainerStatus> container_statuses() const;
  std::vector<ContainerStatus> init_container_statuses() const;
};

// A Taint list of a node (spec.taints).
std::vector<Taint> taints_from(const JsonArray* list);
// tolerations of a PodSpec.
std::vector<Toleration> tolerations_from(const JsonArray* list);

}  // namespace krater
