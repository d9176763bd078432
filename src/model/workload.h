// Reading the kinds of apps/v1, and ReplicationControllers, which are read as ReplicaSets are.
// Defaults are those of the API server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"
#include "model/selector.h"
#include "model/workload_kinds.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";
inline constexpr std::string_view kDeploymentRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
inline constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
inline constexpr std::string_view kPodDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
inline constexpr std::string_view kRevisionHash = "controller-revision-hash";
inline constexpr std::string_view kRevisionObjectHash = "controller.kubernetes.io/hash";
inline constexpr std::string_view kStatefulSetPodName = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";
}  // namespace keys

// What all of them have.
class WorkloadView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::int64_t replicas() const { return integer({"spec", "replicas"}).value_or(1); }
  std::int64_t min_ready_s() const { return integer({"spec", "minReadySeconds"}).value_or(0); }
  // Nothing when it is missing, broken or would match everything.
  std::optional<LabelSelector> selector() const;
  const Json* selector_json() const { return find(document(), {"spec", "selector"}); }
  // An empty object when there is none.
  const Json& pod_template() const;
  std::int64_t history_limit() const {
    return integer({"spec", "revisionHistoryLimit"}).value_or(10);
  }
  std::int64_t observed_generation() const {
    return integer({"status", "observedGeneration"}).value_or(0);
  }
};

class ReplicaSetView : public WorkloadView {
 public:
  using WorkloadView::WorkloadView;

  std::int64_t actual() const { return integer({"status", "replicas"}).value_or(0); }
  std::int64_t ready() const { return integer({"status", "readyReplicas"}).value_or(0); }
  std::int64_t available() const { return integer({"status", "availableReplicas"}).value_or(0); }
  std::vector<Condition> conditions() const { return conditions_of(document()); }
  // The deployment's revision it stands for; 0 without one.
  std::int64_t revision() const;
};

class DeploymentView : public WorkloadView {
 public:
  using WorkloadView::WorkloadView;

  bool paused() const { return boolean({"spec", "paused"}).value_or(false); }
  bool recreates() const { return text({"spec", "strategy", "type"}) == "Recreate"; }
  // Pods that may be too many during a roll-out; 0 with Recreate.
  std::int64_t max_surge() const;
  // Pods that may be missing, at most all; never 0 together with max_surge() in a rolling update.
  std::int64_t max_unavailable() const;
  // Nothing: no deadline.
  std::optional<std::int64_t> progress_deadline_s() const;
};

class StatefulSetView : public WorkloadView {
 public:
  using WorkloadView::WorkloadView;

  bool ordered() const { return text({"spec", "podManagementPolicy"}) != "Parallel"; }
  bool updates_on_delete() const { return text({"spec", "updateStrategy", "type"}) == "OnDelete"; }
  // Pods with a lower ordinal keep the version they have.
  std::int64_t partition() const {
    return integer({"spec", "updateStrategy", "rollingUpdate", "partition"}).value_or(0);
  }
  std::int64_t first_ordinal() const { return integer({"spec", "ordinals", "start"}).value_or(0); }
  std::string service_name() const { return text({"spec", "serviceName"}); }
  std::string current_revision() const { return text({"status", "currentRevision"}); }
  std::int64_t collisions() const { return integer({"status", "collisionCount"}).value_or(0); }
};

class DaemonSetView : public WorkloadView {
 public:
  using WorkloadView::WorkloadView;

  bool updates_on_delete() const { return text({"spec", "updateStrategy", "type"}) == "OnDelete"; }
  // Of `nodes` that should have a pod. Both zero cannot be.
  std::int64_t max_unavailable(std::int64_t nodes) const;
  std::int64_t max_surge(std::int64_t nodes) const;
  std::int64_t collisions() const { return integer({"status", "collisionCount"}).value_or(0); }
};

}  // namespace krater
