// Reading a RayJob, and its status as we write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/object.h"
#include "model/raycluster.h"

namespace krater {

// status.jobDeploymentStatus. New is the empty text.
enum class JobPhase {
  New,
  Initializing,
  Waiting,
  Running,
  Complete,
  Failed,
  ValidationFailed,
  Suspending,
  Suspended,
  Retrying,
};
std::string_view to_text(JobPhase phase);
// Unknown text reads as New.
JobPhase job_phase(std::string_view text);
inline bool is_terminal(JobPhase phase) {
  return phase == JobPhase::Complete || phase == JobPhase::Failed;
}

// status.jobStatus is Ray's own word for the job; these are the final ones.
namespace ray_status {
inline constexpr std::string_view kStopped = "STOPPED";
inline constexpr std::string_view kSucceeded = "SUCCEEDED";
inline constexpr std::string_view kFailed = "FAILED";
}  // namespace ray_status
inline bool is_terminal_ray_status(std::string_view status) {
  return status == ray_status::kStopped || status == ray_status::kSucceeded ||
         status == ray_status::kFailed;
}

namespace job_reason {
inline constexpr std::string_view kSubmissionFailed = "SubmissionFailed";
inline constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";
inline constexpr std::string_view kPreRunningDeadlineExceeded = "PreRunningDeadlineExceeded";
inline constexpr std::string_view kAppFailed = "AppFailed";
inline constexpr std::string_view kTransitionGraceExceeded =
    "JobDeploymentStatusTransitionGracePeriodExceeded";
inline constexpr std::string_view kStatusCheckTimeout = "JobStatusCheckTimeoutExceeded";
inline constexpr std::string_view kValidationFailed = "ValidationFailed";
}  // namespace job_reason

enum class SubmissionMode { K8sJob, Http, Interactive, Sidecar };
std::string_view to_text(SubmissionMode mode);
std::optional<SubmissionMode> submission_mode(std::string_view text);

enum class DeletionPolicy { None, Workers, Cluster, Self };  // ordered by how much they destroy
std::string_view to_text(DeletionPolicy policy);             // "DeleteWorkers"
std::optional<DeletionPolicy> deletion_policy(std::string_view text);

// One entry of spec.deletionStrategy.deletionRules.
struct DeletionRule {
  std::optional<DeletionPolicy> policy{};  // nullopt: an unknown word
  std::string job_status, deployment_status;
  std::int64_t ttl_s = 0;
};

struct RayJobStatus {
  JobPhase phase = JobPhase::New;
  std::string job_status;
  std::string reason, message;
  std::string job_id, cluster_name, dashboard_url;
  std::optional<WallTime> start{}, end{};
  std::int64_t succeeded = 0, failed = 0;
  std::optional<WallTime> ray_start{}, ray_end{};
  std::optional<WallTime> check_failing_since{};
  Json cluster_status{boost::json::object_kind};  // a copy of the RayCluster's status

  static RayJobStatus from(const Json& status);
  // `base`: the status as stored; what we do not own in it stays.
  Json to_json_value(const Json& base) const;
};

class RayJobView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  bool managed_here() const;
  bool deleting() const { return object() && object()->deletion().has_value(); }
  bool has_finalizer() const;

  std::string entrypoint() const { return text({"spec", "entrypoint"}); }
  // nullopt: a word that is no submission mode. Absent: K8sJobMode.
  std::optional<SubmissionMode> mode() const;
  std::string mode_text() const;
  const Json* cluster_spec_json() const;  // nullptr when absent
  RayClusterSpec cluster_spec() const;    // an empty one when absent
  bool has_selector() const;              // non-empty clusterSelector
  std::string selected_cluster() const;   // clusterSelector["ray.io/cluster"]
  const Json* submitter_template() const;
  std::int64_t submitter_backoff_limit() const;  // 2 when absent
  bool has_submitter_config() const;
  std::string job_id() const { return text({"spec", "jobId"}); }
  Labels metadata() const { return string_map(find(document(), {"spec", "metadata"})); }
  std::string runtime_env_yaml() const { return text({"spec", "runtimeEnvYAML"}); }
  double entrypoint_cpus() const;
  double entrypoint_gpus() const;
  std::string entrypoint_resources() const { return text({"spec", "entrypointResources"}); }

  std::optional<std::int64_t> backoff_limit() const { return integer({"spec", "backoffLimit"}); }
  std::optional<std::int64_t> active_deadline_s() const {
    return integer({"spec", "activeDeadlineSeconds"});
  }
  std::optional<std::int64_t> pre_running_deadline_s() const {
    return integer({"spec", "preRunningDeadlineSeconds"});
  }
  bool shutdown_after_finish() const {
    return boolean({"spec", "shutdownAfterJobFinishes"}).value_or(false);
  }
  std::int64_t ttl_s() const { return integer({"spec", "ttlSecondsAfterFinished"}).value_or(0); }
  bool suspend() const { return boolean({"spec", "suspend"}).value_or(false); }

  bool has_deletion_strategy() const;
  std::vector<DeletionRule> deletion_rules() const;
  bool has_on_success() const;
  bool has_on_failure() const;
  // nullopt: absent or an unknown word.
  std::optional<DeletionPolicy> on_success() const;
  std::optional<DeletionPolicy> on_failure() const;

  const Json& status_json() const;
  RayJobStatus status() const { return RayJobStatus::from(status_json()); }

 private:
  double number(JsonPath path) const;
};

}  // namespace krater
