// The rules that KubeRay's custom resource definitions carry as CEL expressions. What its
// controllers check later
// ("neither cluster nor selector") is theirs: such an object is stored and gets a condition.
#include "api/machinery/rules/rules.h"

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

}  // namespace krater::api::rules
