#include "model/rayjob.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/ray_keys.h"

namespace krater {
namespace {

template <typename Enum, std::size_t N>
using Words = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Words<JobPhase, 10> kPhases{{
    {JobPhase::New, ""},
    {JobPhase::Initializing, "Initializing"},
    {JobPhase::Waiting, "Waiting"},
    {JobPhase::Running, "Running"},
    {JobPhase::Complete, "Complete"},
    {JobPhase::Failed, "Failed"},
    {JobPhase::ValidationFailed, "ValidationFailed"},
    {JobPhase::Suspending, "Suspending"},
    {JobPhase::Suspended, "Suspended"},
    {JobPhase::Retrying, "Retrying"},
}};
constexpr Words<SubmissionMode, 4> kModes{{
    {SubmissionMode::K8sJob, "K8sJobMode"},
    {SubmissionMode::Http, "HTTPMode"},
    {SubmissionMode::Interactive, "InteractiveMode"},
    {SubmissionMode::Sidecar, "SidecarMode"},
}};
constexpr Words<DeletionPolicy, 4> kPolicies{{
    {DeletionPolicy::None, "DeleteNone"},
    {DeletionPolicy::Workers, "DeleteWorkers"},
    {DeletionPolicy::Cluster, "DeleteCluster"},
    {DeletionPolicy::Self, "DeleteSelf"},
}};

template <typename Enum, std::size_t N>
std::string_view word_of(const Words<Enum, N>& words, Enum value) {
  for (const auto& entry : words) {
    if (entry.first == value) return entry.second;
  }
  return {};
}
template <typename Enum, std::size_t N>
std::optional<Enum> value_of(const Words<Enum, N>& words, std::string_view text) {
  for (const auto& entry : words) {
    if (entry.second == text) return entry.first;
  }
  return std::nullopt;
}

const Json& object_or_empty(const Json& root, JsonPath path) {
  static const Json empty(boost::json::object_kind);
  const Json* found = find(root, path);
  return found != nullptr && found->is_object() ? *found : empty;
}

std::optional<WallTime> time_at(const Json& root, JsonPath path) {
  const auto text = string_at(root, path);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

void put(JsonObject& out, std::string_view key, std::string_view value) {
  if (value.empty()) {
    if (const auto place = out.find(key); place != out.end()) out.stable_erase(place);
  } else {
    out[key] = value;
  }
}
void put(JsonObject& out, std::string_view key, const std::optional<WallTime>& value) {
  put(out, key, value ? to_rfc3339(*value) : std::string());
}

}  // namespace

std::string_view to_text(JobPhase phase) {
  return word_of(kPhases, phase);
}
JobPhase job_phase(std::string_view text) {
  return value_of(kPhases, text).value_or(JobPhase::New);
}
std::string_view to_text(SubmissionMode mode) {
  return word_of(kModes, mode);
}
std::optional<SubmissionMode> submission_mode(std::string_view text) {
  return value_of(kModes, text);
}
std::string_view to_text(DeletionPolicy policy) {
  return word_of(kPolicies, policy);
}
std::optional<DeletionPolicy> deletion_policy(std::string_view text) {
  return value_of(kPolicies, text);
}

RayJobStatus RayJobStatus::from(const Json& status) {
  RayJobStatus out;
  out.phase = job_phase(text_at(status, {"jobDeploymentStatus"}));
  out.job_status = text_at(status, {"jobStatus"});
  out.reason = text_at(status, {"reason"});
  out.message = text_at(status, {"message"});
  out.job_id = text_at(status, {"jobId"});
  out.cluster_name = text_at(status, {"rayClusterName"});
  out.dashboard_url = text_at(status, {"dashboardURL"});
  out.start = time_at(status, {"startTime"});
  out.end = time_at(status, {"endTime"});
  out.succeeded = int_at(status, {"succeeded"}).value_or(0);
  out.failed = int_at(status, {"failed"}).value_or(0);
  out.ray_start = time_at(status, {"rayJobInfo", "startTime"});
  out.ray_end = time_at(status, {"rayJobInfo", "endTime"});
  out.check_failing_since = time_at(status, {"jobStatusCheckFailureStartTime"});
  out.cluster_status = object_or_empty(status, {"rayClusterStatus"});
  return out;
}

Json RayJobStatus::to_json_value(const Json& base) const {
  JsonObject out = base.is_object() ? base.get_object() : JsonObject();
  put(out, "jobDeploymentStatus", to_text(phase));
  put(out, "jobStatus", job_status);
  put(out, "reason", reason);
  put(out, "message", message);
  put(out, "jobId", job_id);
  put(out, "rayClusterName", cluster_name);
  put(out, "dashboardURL", dashboard_url);
  put(out, "startTime", start);
  put(out, "endTime", end);
  out["succeeded"] = succeeded;
  out["failed"] = failed;
  if (ray_start || ray_end) {
    JsonObject info;
    put(info, "startTime", ray_start);
    put(info, "endTime", ray_end);
    out["rayJobInfo"] = std::move(info);
  } else {
    put(out, "rayJobInfo", std::string_view());
  }
  put(out, "jobStatusCheckFailureStartTime", check_failing_since);
  out["rayClusterStatus"] = cluster_status;
  return out;
}

bool RayJobView::managed_here() const {
  const auto manager = string({"spec", "managedBy"});
  return !manager || manager->empty() || *manager == ray_keys::kManager;
}

bool RayJobView::has_finalizer() const {
  return object() && std::ranges::find(object()->finalizers(), ray_keys::kJobFinalizer) !=
                         object()->finalizers().end();
}

std::string RayJobView::mode_text() const {
  std::string word = text({"spec", "submissionMode"});
  return word.empty() ? std::string(to_text(SubmissionMode::K8sJob)) : word;
}
std::optional<SubmissionMode> RayJobView::mode() const {
  return submission_mode(mode_text());
}

const Json* RayJobView::cluster_spec_json() const {
  const Json* spec = find(document(), {"spec", "rayClusterSpec"});
  return spec != nullptr && spec->is_object() ? spec : nullptr;
}
RayClusterSpec RayJobView::cluster_spec() const {
  return RayClusterSpec(object_or_empty(document(), {"spec", "rayClusterSpec"}));
}

bool RayJobView::has_selector() const {
  const JsonObject* selector = object_at(document(), {"spec", "clusterSelector"});
  return selector != nullptr && !selector->empty();
}
std::string RayJobView::selected_cluster() const {
  return text({"spec", "clusterSelector", ray_keys::kCluster});
}

const Json* RayJobView::submitter_template() const {
  const Json* found = find(document(), {"spec", "submitterPodTemplate"});
  return found != nullptr && found->is_object() ? found : nullptr;
}
std::int64_t RayJobView::submitter_backoff_limit() const {
  return integer({"spec", "submitterConfig", "backoffLimit"}).value_or(2);
}
bool RayJobView::has_submitter_config() const {
  return object_at(document(), {"spec", "submitterConfig"}) != nullptr;
}

double RayJobView::number(JsonPath path) const {
  const Json* found = find(document(), path);
  return found != nullptr && found->is_number() ? found->to_number<double>() : 0;
}
double RayJobView::entrypoint_cpus() const {
  return number({"spec", "entrypointNumCpus"});
}
double RayJobView::entrypoint_gpus() const {
  return number({"spec", "entrypointNumGpus"});
}

bool RayJobView::has_deletion_strategy() const {
  return object_at(document(), {"spec", "deletionStrategy"}) != nullptr;
}

std::vector<DeletionRule> RayJobView::deletion_rules() const {
  std::vector<DeletionRule> out;
  const JsonArray* rules = array_at(document(), {"spec", "deletionStrategy", "deletionRules"});
  if (rules == nullptr) return out;
  for (const Json& rule : *rules) {
    out.push_back({deletion_policy(text_at(rule, {"policy"})),
                   text_at(rule, {"condition", "jobStatus"}),
                   text_at(rule, {"condition", "jobDeploymentStatus"}),
                   int_at(rule, {"condition", "ttlSeconds"}).value_or(0)});
  }
  return out;
}

bool RayJobView::has_on_success() const {
  return object_at(document(), {"spec", "deletionStrategy", "onSuccess"}) != nullptr;
}
bool RayJobView::has_on_failure() const {
  return object_at(document(), {"spec", "deletionStrategy", "onFailure"}) != nullptr;
}
std::optional<DeletionPolicy> RayJobView::on_success() const {
  return deletion_policy(text({"spec", "deletionStrategy", "onSuccess", "policy"}));
}
std::optional<DeletionPolicy> RayJobView::on_failure() const {
  return deletion_policy(text({"spec", "deletionStrategy", "onFailure", "policy"}));
}

const Json& RayJobView::status_json() const {
  return object_or_empty(document(), {"status"});
}

}  // namespace krater
