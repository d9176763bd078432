// Reading a RayCluster and the specs embedded in one (a RayJob carries the same spec), and its
// status as we write it. RayGroupSpec and RayClusterSpec refer to a document that somebody else
// keeps alive.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"
#include "model/resource_list.h"

namespace krater {

// headGroupSpec or one of workerGroupSpecs.
class RayGroupSpec {
 public:
  enum class Role { Head, Worker };
  RayGroupSpec(const Json& json, Role role) : json_(&json), role_(role) {}

  bool is_head() const { return role_ == Role::Head; }
  std::string name() const;  // "headgroup" for the head
  const Json& pod_template() const;
  const JsonArray& containers() const;  // of the template
  const Json& ray_container() const;    // containers[0]; an empty object when there is none
  Labels start_params() const { return string_map(krater::find(*json_, {"rayStartParams"})); }
  Labels structured_resources() const { return string_map(krater::find(*json_, {"resources"})); }
  Labels structured_labels() const { return string_map(krater::find(*json_, {"labels"})); }
  bool suspended() const { return bool_at(*json_, {"suspend"}).value_or(false); }

  // Worker groups. Counts are replicas, one replica is hosts() pods.
  std::optional<std::int64_t> replicas() const { return int_at(*json_, {"replicas"}); }
  std::optional<std::int64_t> min_replicas() const { return int_at(*json_, {"minReplicas"}); }
  std::optional<std::int64_t> max_replicas() const { return int_at(*json_, {"maxReplicas"}); }
  std::int64_t hosts() const { return int_at(*json_, {"numOfHosts"}).value_or(1); }
  // replicas within [minReplicas, maxReplicas]; minReplicas when absent. Suspension is not looked
  // at.
  std::int64_t clamped_replicas() const;
  // Pods wanted now: 0 when suspended.
  std::int64_t desired_pods() const { return suspended() ? 0 : clamped_replicas() * hosts(); }
  std::vector<std::string> workers_to_delete() const;
  std::optional<std::int64_t> idle_timeout_s() const {
    return int_at(*json_, {"idleTimeoutSeconds"});
  }
  std::int64_t priority() const { return int_at(*json_, {"priority"}).value_or(0); }

  // Head group.
  std::string service_type() const { return text_at(*json_, {"serviceType"}); }
  const Json* head_service() const { return krater::find(*json_, {"headService"}); }
  bool ingress() const { return bool_at(*json_, {"enableIngress"}).value_or(false); }
  const Json& json() const { return *json_; }

 private:
  const Json* json_;
  Role role_;
};

class RayClusterSpec {
 public:
  explicit RayClusterSpec(const Json& json) : json_(&json) {}

  RayGroupSpec head() const;
  std::vector<RayGroupSpec> workers() const;
  std::string ray_version() const { return text_at(*json_, {"rayVersion"}); }
  bool autoscaling() const { return bool_at(*json_, {"enableInTreeAutoscaling"}).value_or(false); }
  std::optional<bool> suspend() const { return bool_at(*json_, {"suspend"}); }
  std::string upgrade_type() const { return text_at(*json_, {"upgradeStrategy", "type"}); }
  Labels head_service_annotations() const {
    return string_map(krater::find(*json_, {"headServiceAnnotations"}));
  }
  // Worker pods wanted now.
  std::int64_t desired_workers() const;
  const Json& json() const { return *json_; }

 private:
  const Json* json_;
};

struct RayClusterStatus {
  std::string state, reason;
  std::vector<Condition> conditions;
  std::int64_t desired_workers = 0, min_workers = 0, max_workers = 0, ready_workers = 0,
               available_workers = 0;
  std::string desired_cpu, desired_memory, desired_gpu, desired_tpu;
  Labels endpoints;  // head service port name -> node port or target port
  std::string head_pod_ip, head_pod_name, head_service_ip, head_service_name;
  std::string last_update_time;  // RFC 3339
  Labels state_transition_times;
  std::int64_t observed_generation = 0;

  static RayClusterStatus from(const Json& status);
  // `base`: the status as stored; what we do not own in it stays.
  Json to_json_value(const Json& base) const;
  const Condition* condition(std::string_view type) const;
  bool is_true(std::string_view type) const;
  // Keeps the transition time when the status value stays.
  void set(std::string type, bool value, std::string reason, std::string message, WallTime now);
  void remove(std::string_view type);
  // What a reader would notice: not lastUpdateTime, observedGeneration, desired totals, transition
  // times.
  bool same_news(const RayClusterStatus& other) const;
};

class RayClusterView : public ObjectView {
 public:
  using ObjectView::ObjectView;
  RayClusterSpec spec() const;
  const Json& status_json() const;  // an empty object when there is none
  RayClusterStatus status() const { return RayClusterStatus::from(status_json()); }
  std::string state() const { return text({"status", "state"}); }
  // Absent or "ray.io/kuberay-operator": ours.
  bool managed_here() const;
  bool deleting() const { return object() && object()->deletion().has_value(); }
};

}  // namespace krater
