// The rules that KubeRay's custom resource definitions carry as CEL expressions. What its
// controllers check later
// ("neither cluster nor selector") is theirs: such an object is stored and gets a condition.
#include "api/machinery/rules/rules.h"
#include "base/cron_schedule.h"

namespace krater::api::rules {
namespace {

void broken(const FieldPath& path, std::string_view type, std::string_view rule,
            FieldErrors& errors) {
  errors.invalid(path, Json(std::string(type)), rule);
}

}  // namespace

void ray_managed_by(const RuleInput& in, FieldErrors& errors) {
  const auto now = string_at(in.value, {"managedBy"});
  if (now && *now != "ray.io/kuberay-operator" && *now != "kueue.x-k8s.io/multikueue") {
    broken(in.path.field("managedBy"), "string",
           "the managedBy field value must be either 'ray.io/kuberay-operator' or "
           "'kueue.x-k8s.io/multikueue'",
           errors);
  }
  if (in.old == nullptr) return;
  const auto was = string_at(*in.old, {"managedBy"});
  if (now && was && *now != *was) {
    broken(in.path.field("managedBy"), "string", "the managedBy field is immutable", errors);
  }
}

void ray_gcs_backend(const RuleInput& in, FieldErrors& errors) {
  if (in.old == nullptr) return;
  const auto now = string_at(in.value, {"backend"});
  const auto was = string_at(*in.old, {"backend"});
  if (was && now != was)
    broken(in.path.field("backend"), "string", "the backend field is immutable", errors);
}

void ray_deletion_strategy(const RuleInput& in, FieldErrors& errors) {
  const bool success = find(in.value, {"onSuccess"}) != nullptr;
  const bool failure = find(in.value, {"onFailure"}) != nullptr;
  const bool rules_set = find(in.value, {"deletionRules"}) != nullptr;
  if ((success || failure) && rules_set) {
    broken(in.path, "object", "onSuccess and onFailure cannot be combined with deletionRules",
           errors);
  }
  if (!rules_set && !(success && failure)) {
    broken(in.path, "object", "needs both onSuccess and onFailure, or deletionRules", errors);
  }
}

void ray_deletion_condition(const RuleInput& in, FieldErrors& errors) {
  const bool job = find(in.value, {"jobStatus"}) != nullptr;
  const bool deployment = find(in.value, {"jobDeploymentStatus"}) != nullptr;
  if (job && deployment) {
    broken(in.path, "object",
           "jobStatus and jobDeploymentStatus cannot be combined in one condition", errors);
  }
  if (!job && !deployment) {
    broken(in.path, "object", "needs jobStatus or jobDeploymentStatus", errors);
  }
}

void ray_service(const RuleInput& in, FieldErrors& errors) {
  const FieldPath spec = in.path.field("spec");
  const FieldPath upgrade = spec.field("upgradeStrategy");
  const std::string type = text_at(in.value, {"spec", "upgradeStrategy", "type"});
  if (!type.empty() && type != "NewCluster" && type != "NewClusterWithIncrementalUpgrade" &&
      type != "None") {
    errors.unsupported(upgrade.field("type"), type,
                       {"NewCluster", "NewClusterWithIncrementalUpgrade", "None"});
  }
  const Json* options = find(in.value, {"spec", "upgradeStrategy", "clusterUpgradeOptions"});
  if (options == nullptr) return;
  const FieldPath path = upgrade.field("clusterUpgradeOptions");
  const std::int64_t surge = int_at(*options, {"maxSurgePercent"}).value_or(100);
  const std::int64_t step = int_at(*options, {"stepSizePercent"}).value_or(0);
  if (surge < 0 || surge > 100)
    errors.invalid(path.field("maxSurgePercent"), Json(surge), "must be between 0 and 100");
  if (step < 0 || step > 100)
    errors.invalid(path.field("stepSizePercent"), Json(step), "must be between 0 and 100");
  if (step > surge) {
    errors.invalid(path.field("stepSizePercent"), Json(step),
                   "must be less than or equal to maxSurgePercent");
  }
  const auto interval = int_at(*options, {"intervalSeconds"});
  if (interval && *interval <= 0)
    errors.invalid(path.field("intervalSeconds"), Json(*interval), "must be greater than 0");
}

void ray_cron_job(const RuleInput& in, FieldErrors& errors) {
  constexpr std::size_t kLongestName = 36;
  const FieldPath metadata = in.path.field("metadata");
  const FieldPath spec = in.path.field("spec");
  const std::string name = text_at(in.value, {"metadata", "name"});
  if (name.size() > kLongestName) {
    errors.invalid(metadata.field("name"), Json(name),
                   "RayCronJob name should be no more than 36 characters");
  }
  const std::string schedule = text_at(in.value, {"spec", "schedule"});
  if (schedule.find("TZ") != std::string::npos) {
    errors.invalid(spec.field("schedule"), Json(schedule),
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (!schedule.empty()) {
    if (const auto parsed = CronSchedule::parse(schedule); !parsed)
      errors.invalid(spec.field("schedule"), Json(schedule), parsed.error().message);
  }
  const std::string zone = text_at(in.value, {"spec", "timeZone"});
  if (zone.empty()) return;
  if (const auto found = TimeZone::find(zone); !found)
    errors.invalid(spec.field("timeZone"), Json(zone), found.error().message);
}

}  // namespace krater::api::rules
