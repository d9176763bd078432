#include "controllers/rayjob/validate.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/strings.h"
#include "controllers/ray/validate_cluster.h"
#include "controllers/ray/versions.h"
#include "controllers/rayjob/submit_command.h"

namespace krater::controllers {
namespace {

Error invalid(std::string message) {
  return make_error(Code::Invalid, std::move(message));
}

bool removes_parts(DeletionPolicy policy) {
  return policy == DeletionPolicy::Workers || policy == DeletionPolicy::Cluster;
}

Result<void> check_legacy(const RayJobView& job) {
  if (job.has_on_success() != job.has_on_failure()) {
    return invalid("deletionStrategy must set both onSuccess and onFailure");
  }
  for (const auto& [name, policy] :
       {std::pair("onSuccess", job.on_success()), std::pair("onFailure", job.on_failure())}) {
    if (!policy) return invalid(std::string("deletionStrategy.") + name + ".policy must be set");
    const std::string text(to_text(*policy));
    if (job.has_selector() && removes_parts(*policy)) {
      return invalid("deletionStrategy." + std::string(name) + ".policy " + text +
                     " does not work with clusterSelector");
    }
    if (*policy == DeletionPolicy::Workers && job.cluster_spec().autoscaling()) {
      return invalid("deletionStrategy." + std::string(name) +
                     ".policy DeleteWorkers does not work with autoscaling");
    }
    if (*policy == DeletionPolicy::None && job.shutdown_after_finish()) {
      return invalid("shutdownAfterJobFinishes does not work with deletionStrategy." +
                     std::string(name) + ".policy DeleteNone");
    }
  }
  return {};
}

std::string check_rule(const RayJobView& job, const DeletionRule& rule) {
  if (rule.job_status.empty() == rule.deployment_status.empty()) {
    return "condition must set exactly one of jobStatus and jobDeploymentStatus";
  }
  if (!rule.policy) return "policy must be DeleteCluster, DeleteWorkers, DeleteSelf or DeleteNone";
  if (rule.ttl_s < 0) return "condition.ttlSeconds must not be negative";
  if (job.has_selector() && removes_parts(*rule.policy)) {
    return "policy " + std::string(to_text(*rule.policy)) + " does not work with clusterSelector";
  }
  if (*rule.policy == DeletionPolicy::Workers && job.cluster_spec().autoscaling()) {
    return "policy DeleteWorkers does not work with autoscaling";
  }
  return {};
}

// Everything wrong with the rules at once: they are read together.
Result<void> check_rules(const RayJobView& job) {
  std::vector<std::string> problems;
  std::map<std::string, std::map<DeletionPolicy, std::int64_t>> ttls;  // by condition value
  const std::vector<DeletionRule> rules = job.deletion_rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string where = "deletionRules[" + std::to_string(i) + "]: ";
    const DeletionRule& rule = rules[i];
    if (std::string problem = check_rule(job, rule); !problem.empty()) {
      problems.push_back(where + problem);
      continue;
    }
    const std::string condition = rule.job_status + rule.deployment_status;
    if (!ttls[condition].emplace(*rule.policy, rule.ttl_s).second) {
      problems.push_back(where + "a second rule with policy " + std::string(to_text(*rule.policy)) +
                         " for " + condition);
    }
  }
  for (const auto& [condition, by_policy] : ttls) {
    std::optional<std::pair<DeletionPolicy, std::int64_t>> before;
    for (const auto& [policy, ttl] : by_policy) {  // in the order of how much they destroy
      if (policy == DeletionPolicy::None) continue;
      if (before && ttl < before->second) {
        problems.push_back("deletionRules: for " + condition + ", ttlSeconds " +
                           std::to_string(ttl) + " of " + std::string(to_text(policy)) +
                           " is below the " + std::to_string(before->second) + " of " +
                           std::string(to_text(before->first)));
      }
      before = {policy, ttl};
    }
  }
  if (!problems.empty()) return invalid(join(problems, "; "));
  return {};
}

Result<void> check_deletion(const RayJobView& job) {
  if (job.ttl_s() < 0) return invalid("ttlSecondsAfterFinished must not be negative");
  if (job.ttl_s() > 0 && !job.shutdown_after_finish()) {
    return invalid("ttlSecondsAfterFinished needs shutdownAfterJobFinishes set to true");
  }
  if (!job.has_deletion_strategy()) return {};
  const bool legacy = job.has_on_success() || job.has_on_failure();
  if (!job.deletion_rules().empty()) {
    if (job.shutdown_after_finish())
      return invalid("shutdownAfterJobFinishes does not work with deletionStrategy.deletionRules");
    if (legacy)
      return invalid("deletionStrategy must not set both deletionRules and onSuccess/onFailure");
    return check_rules(job);
  }
  if (!legacy)
    return invalid("deletionStrategy must set deletionRules, or onSuccess and onFailure");
  return check_legacy(job);
}

Result<void> check_cluster(const RayJobView& job) {
  if (job.suspend() && job.has_selector())
    return invalid("suspend does not work with clusterSelector");
  if (job.cluster_spec_json() == nullptr && !job.has_selector()) {
    return invalid("one of rayClusterSpec and clusterSelector must be set");
  }
  if (!job.has_selector()) return {};
  if (job.selected_cluster().empty())
    return invalid("clusterSelector must name a RayCluster under ray.io/cluster");
  if (job.mode() == SubmissionMode::Sidecar)
    return invalid("clusterSelector does not work with submissionMode SidecarMode");
  if (job.backoff_limit().value_or(0) > 0) {
    return invalid(
        "backoffLimit above 0 does not work with clusterSelector: a retry needs a new cluster");
  }
  return {};
}

Result<void> check_mode(const RayJobView& job) {
  const auto mode = job.mode();
  if (!mode) {
    return invalid("submissionMode must be K8sJobMode or InteractiveMode, got \"" +
                   job.mode_text() + "\"");
  }
  switch (*mode) {
    case SubmissionMode::K8sJob:
      break;
    case SubmissionMode::Interactive:
      if (job.backoff_limit().value_or(0) > 0)
        return invalid("backoffLimit above 0 does not work with submissionMode InteractiveMode");
      break;
    case SubmissionMode::Http:
    case SubmissionMode::Sidecar:
      return invalid(
          "submissionMode " + job.mode_text() +
          " is not supported by this version of Krater; use K8sJobMode or InteractiveMode");
  }
  return {};
}

Result<void> check_metadata_flag(const RayJobView& job) {
  if (job.metadata().empty() || job.cluster_spec_json() == nullptr) return {};
  const std::string version = job.cluster_spec().ray_version();
  if (!version.empty() && !at_least(version, {2, 6, 0})) {
    return invalid("metadata needs Ray 2.6.0 or later, rayClusterSpec.rayVersion is \"" + version +
                   "\"");
  }
  return {};
}

Result<void> check_numbers(const RayJobView& job) {
  if (job.active_deadline_s() && *job.active_deadline_s() <= 0)
    return invalid("activeDeadlineSeconds must be above 0");
  if (job.pre_running_deadline_s() && *job.pre_running_deadline_s() <= 0) {
    return invalid("preRunningDeadlineSeconds must be above 0");
  }
  if (job.backoff_limit() && *job.backoff_limit() < 0)
    return invalid("backoffLimit must not be negative");
  return {};
}

Result<void> check_spec(const RayJobView& job) {
  if (job.suspend() && !job.shutdown_after_finish())
    return invalid("suspend needs shutdownAfterJobFinishes set to true");
  TRY(check_deletion(job));
  TRY(check_cluster(job));
  TRY(check_mode(job));
  if (job.cluster_spec_json() != nullptr) {
    if (const auto result = validate_cluster_spec(job.cluster_spec(), job.annotations()); !result) {
      return invalid("rayClusterSpec: " + result.error().message);
    }
    if (!job.cluster_spec().upgrade_type().empty()) {
      return invalid("rayClusterSpec.upgradeStrategy cannot be set in a RayJob");
    }
  }
  TRY(check_metadata_flag(job));
  if (const auto env = runtime_env_json(job); !env) return env.error();
  return check_numbers(job);
}

}  // namespace

std::optional<JobProblem> judge_job(const RayJobView& job) {
  if (const auto name = validate_name("RayJob", job->name(), 47); !name) {
    return JobProblem{"InvalidRayJobMetadata", name.error().message};
  }
  if (const auto spec = check_spec(job); !spec) {
    return JobProblem{"InvalidRayJobSpec", "The RayJob spec is invalid: " + spec.error().message};
  }
  if (job.status().phase == JobPhase::Waiting && job.mode() != SubmissionMode::Interactive) {
    return JobProblem{"InvalidRayJobStatus",
                      "The RayJob is Waiting, which only InteractiveMode does"};
  }
  return std::nullopt;
}

}  // namespace krater::controllers
