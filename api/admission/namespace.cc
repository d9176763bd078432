// Namespaces: the label every selector relies on, the finalizer that keeps one until its content is
// gone, and those that are never deleted.
#include <algorithm>

#include "api/admission/namespace_status.h"
#include "api/admission/rules.h"

namespace krater::api {

Result<void> mutate_namespace(Admission& admission) {
  set_path(admission.object, {"metadata", "labels", "kubernetes.io/metadata.name"},
           Json(admission.name));
  if (admission.operation != Operation::Create) return {};
  JsonArray finalizers;
  if (const JsonArray* given = array_at(admission.object, {"spec", "finalizers"}))
    finalizers = *given;
  if (std::find(finalizers.begin(), finalizers.end(), Json("kubernetes")) == finalizers.end()) {
    finalizers.emplace_back("kubernetes");
  }
  set_path(admission.object, {"spec", "finalizers"}, std::move(finalizers));
  set_path(admission.object, {"status", "phase"}, "Active");
  return {};
}

void validate_namespace(const Admission& admission, Causes& causes) {
  if (admission.operation != Operation::Update || admission.subresource != "status") return;
  const std::string phase = text_at(admission.object, {"status", "phase"});
  const bool going = string_at(admission.object, {"metadata", "deletionTimestamp"}).has_value();
  if (phase == (going ? "Terminating" : "Active")) return;
  causes.push_back(
      invalid_value("status.Phase", quoted(phase),
                    going ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                          : "may only be 'Active' if `deletionTimestamp` is empty"));
}

Result<void> admit_namespace(const Admission& admission) {
  if (admission.operation != Operation::Delete) return {};
  for (const std::string_view name : {"default", "kube-system", "kube-public"}) {
    if (admission.name == name) return refusal("this namespace may not be deleted");
  }
  return {};
}

}  // namespace krater::api
