// Reading a Volcano Job (batch.volcano.sh/v1alpha1), and the words of its life: phases, events and
// actions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/object.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kVolcanoJobVersion = "volcano.sh/job-version";
inline constexpr std::string_view kVolcanoJobRetryCount = "volcano.sh/job-retry-count";
inline constexpr std::string_view kVolcanoTemplateUid = "volcano.sh/template-uid";
inline constexpr std::string_view kVolcanoPartition = "volcano.sh/partition-id";
inline constexpr std::string_view kVolcanoForwarding = "volcano.sh/job-forwarding";
inline constexpr std::string_view kNumaPolicy = "volcano.sh/numa-topology-policy";
inline constexpr std::string_view kRevocableZone = "volcano.sh/revocable-zone";
inline constexpr std::string_view kJdbMinAvailable = "volcano.sh/jdb-min-available";
inline constexpr std::string_view kJdbMaxUnavailable = "volcano.sh/jdb-max-unavailable";
// On a pod: its controller is removing it, so its end means nothing.
inline constexpr std::string_view kOutOfSync = "volcano.sh/controller-out-of-sync";
}  // namespace keys

namespace kinds {
extern const Kind kCommand;  // an order to a job or a queue; taken by whoever carries it out
}  // namespace kinds

enum class VolcanoJobPhase {
  Pending,
  Aborting,
  Aborted,
  Running,
  Restarting,
  Completing,
  Completed,
  Terminating,
  Terminated,
  Failed,
};
std::string_view to_text(VolcanoJobPhase phase);

enum class VolcanoEvent {
  Any,
  PodPending,
  PodRunning,
  PodFailed,
  PodEvicted,
  Unknown,
  TaskCompleted,
  TaskFailed,
  OutOfSync,
  CommandIssued,
  JobUpdated,
};
std::string_view to_text(VolcanoEvent event);

enum class VolcanoAction {
  SyncJob,
  AbortJob,
  RestartJob,
  RestartTask,
  RestartPod,
  RestartPartition,
  TerminateJob,
  CompleteJob,
  ResumeJob,
};
std::string_view to_text(VolcanoAction action);
// nullopt for text that is no action of a job.
std::optional<VolcanoAction> volcano_action(std::string_view text);

// What to do when something happens, of a task or of the whole job.
struct LifecyclePolicy {
  VolcanoAction action = VolcanoAction::SyncJob;
  std::vector<VolcanoEvent> events{};
  std::optional<std::int64_t> exit_code{};
  std::optional<Duration> timeout{};
};

struct PartitionPolicy {
  std::int64_t total = 0, size = 0, minimum = 0;
  const Json* network_topology = nullptr;  // into the view's document
};

struct VolcanoTask {
  std::string name;
  std::int64_t replicas = 0;
  std::optional<std::int64_t> min_available{};
  std::int64_t max_retry = 3;  // container restarts until TaskFailed; below 0: without limit
  std::vector<LifecyclePolicy> policies{};
  std::vector<std::string> depends_on{};
  bool depends_on_any = false;
  std::string topology_policy{};
  std::optional<PartitionPolicy> partition{};
  const Json* pod_template = nullptr;  // into the view's document; may be null

  // minAvailable, else minPartitions × partitionSize, else replicas.
  std::int64_t minimum() const;
};

struct VolcanoVolume {
  std::string mount_path, claim_name;
  const Json* claim = nullptr;  // into the view's document; may be null
};

class VolcanoJobView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::string scheduler_name() const { return text({"spec", "schedulerName"}); }
  std::int64_t min_available() const { return integer({"spec", "minAvailable"}).value_or(0); }
  std::optional<std::int64_t> min_success() const { return integer({"spec", "minSuccess"}); }
  std::int64_t max_retry() const { return integer({"spec", "maxRetry"}).value_or(3); }
  std::optional<std::int64_t> ttl_after_finished_s() const {
    return integer({"spec", "ttlSecondsAfterFinished"});
  }
  QueueName queue() const;  // "default" when absent
  std::string priority_class_name() const { return text({"spec", "priorityClassName"}); }
  const Json* network_topology() const { return find(document(), {"spec", "networkTopology"}); }
  std::vector<VolcanoTask> tasks() const;
  std::vector<LifecyclePolicy> policies() const;
  std::vector<VolcanoVolume> volumes() const;
  // Arguments by plugin name.
  std::map<std::string, std::vector<std::string>, std::less<>> plugins() const;

  // nullopt: nobody has looked at it yet.
  std::optional<VolcanoJobPhase> phase() const;
  // "<job>-<uid>".
  std::string pod_group_name() const;
};

// As Go writes a Duration, in whole seconds: "0s", "42s", "1m5s", "2h0m0s".
std::string to_go_duration(Duration duration);

// Pods of a job are named after their place in it.
std::string volcano_pod_name(std::string_view job, std::string_view task, std::int64_t index);

}  // namespace krater
