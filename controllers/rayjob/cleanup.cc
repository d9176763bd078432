#include "controllers/rayjob/cleanup.h"

#include <algorithm>

#include "controllers/rayjob/children.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

bool cluster_gone(const JobSeen& seen) {
  return !seen.cluster || seen.cluster.deleting();
}

bool workers_gone(const JobSeen& seen) {
  if (cluster_gone(seen)) return true;
  const auto groups = seen.cluster.spec().workers();
  return std::ranges::all_of(groups, [](const RayGroupSpec& group) { return group.suspended(); });
}

bool achieved(DeletionPolicy policy, const JobSeen& seen) {
  switch (policy) {
    case DeletionPolicy::None:
      return true;
    case DeletionPolicy::Workers:
      return workers_gone(seen);
    case DeletionPolicy::Cluster:
      return cluster_gone(seen);
    case DeletionPolicy::Self:
      return false;
  }
  return true;
}

void consider(CleanupDue& out, DeletionPolicy policy, std::int64_t ttl_s, const JobSeen& seen,
              WallTime now) {
  if (achieved(policy, seen)) return;
  const Duration left = seen.status.end.value_or(now) + std::chrono::seconds(ttl_s) - now;
  if (left > 0s) {
    out.look_again = out.look_again ? std::min(*out.look_again, left) : left;
  } else if (!out.now || *out.now < policy) {
    out.now = policy;
  }
}

bool matches(const DeletionRule& rule, const RayJobStatus& status) {
  if (!rule.job_status.empty()) return rule.job_status == status.job_status;
  return !rule.deployment_status.empty() && rule.deployment_status == to_text(status.phase);
}

}  // namespace

CleanupDue cleanup_due(const JobSeen& seen, const JobRules& rules, WallTime now) {
  CleanupDue out;
  if (seen.job.has_selector()) return out;
  if (seen.job.has_deletion_strategy()) {
    for (const DeletionRule& rule : seen.job.deletion_rules()) {
      if (rule.policy && matches(rule, seen.status))
        consider(out, *rule.policy, rule.ttl_s, seen, now);
    }
    std::optional<DeletionPolicy> legacy;
    if (seen.status.job_status == ray_status::kSucceeded) legacy = seen.job.on_success();
    if (seen.status.job_status == ray_status::kFailed) legacy = seen.job.on_failure();
    if (legacy) consider(out, *legacy, seen.job.ttl_s(), seen, now);
    return out;
  }
  if (seen.job.shutdown_after_finish()) {
    consider(out, rules.delete_job_after_finish ? DeletionPolicy::Self : DeletionPolicy::Cluster,
             seen.job.ttl_s(), seen, now);
  }
  return out;
}

PlannedWrite delete_cluster(const JobSeen& seen) {
  client::DeleteWrite write{kinds::kRayCluster, seen.cluster->name_space(), seen.cluster->name()};
  write.only_uid = seen.cluster->uid();
  const std::string what = "RayCluster " + seen.cluster->name_space() + "/" + seen.cluster->name();
  return PlannedWrite{
      std::move(write), Code::NotFound,
      job_event(Type::Normal, "DeletedRayCluster", "Deleted " + what, "Delete"),
      job_event(Type::Warning, "FailedToDeleteRayCluster", "Failed to delete " + what, "Delete")};
}

PlannedWrite delete_job(const JobSeen& seen) {
  client::DeleteWrite write{kinds::kRayJob, seen.job->name_space(), seen.job->name()};
  write.only_uid = seen.job->uid();
  return PlannedWrite{std::move(write), Code::NotFound};
}

std::optional<PlannedWrite> delete_workers(const JobSeen& seen) {
  if (workers_gone(seen)) return std::nullopt;
  JsonArray groups = *array_at(seen.cluster.spec().json(), {"workerGroupSpecs"});
  for (Json& group : groups) set_path(group, {"suspend"}, true);
  client::PatchWrite write{
      kinds::kRayCluster, seen.cluster->name_space(), seen.cluster->name(),
      client::PatchType::Merge,
      JsonObject{{"spec", JsonObject{{"workerGroupSpecs", std::move(groups)}}}}};
  write.only_if = seen.cluster->revision();
  const std::string what =
      "worker groups of RayCluster " + seen.cluster->name_space() + "/" + seen.cluster->name();
  return PlannedWrite{
      std::move(write), std::nullopt,
      job_event(Type::Normal, "UpdatedRayCluster", "Suspended the " + what, "Update"),
      job_event(Type::Warning, "FailedToUpdateRayCluster", "Failed to suspend the " + what,
                "Update")};
}

}  // namespace krater::controllers
