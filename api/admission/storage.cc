// Volumes and claims: nothing in use goes, and a claim that names no class gets the default one.
#include "model/storage.h"

#include <algorithm>

#include "api/admission/claim_limits.h"
#include "api/admission/rules.h"

namespace krater::api {
namespace {

void protect(Json& object, std::string_view finalizer) {
  JsonArray finalizers;
  if (const JsonArray* given = array_at(object, {"metadata", "finalizers"})) finalizers = *given;
  if (std::find(finalizers.begin(), finalizers.end(), Json(finalizer)) != finalizers.end()) return;
  finalizers.emplace_back(finalizer);
  set_path(object, {"metadata", "finalizers"}, std::move(finalizers));
}

std::optional<Quantity> wanted_size(const Json& claim) {
  const auto text = string_at(claim, {"spec", "resources", "requests", "storage"});
  const Result<Quantity> size = text ? Quantity::parse(*text) : Quantity();
  return size ? std::optional(*size) : std::nullopt;
}

}  // namespace

Result<void> mutate_persistent_volume(Admission& admission) {
  if (admission.operation == Operation::Create) protect(admission.object, keys::kVolumeProtection);
  return {};
}

Result<void> mutate_persistent_volume_claim(Admission& admission) {
  if (admission.operation != Operation::Create) return {};
  Json& claim = admission.object;
  protect(claim, keys::kClaimProtection);
  constexpr std::string_view kOldClass = "volume.beta.kubernetes.io/storage-class";
  if (find(claim, {"spec", "storageClassName"}) != nullptr ||
      find(claim, {"metadata", "annotations", kOldClass}) != nullptr)
    return {};
  TRY_ASSIGN(const std::vector<ObjectPtr> classes, admission.reader.list(kinds::kStorageClass, ""));
  if (const ObjectPtr chosen = default_class(classes))
    set_path(claim, {"spec", "storageClassName"}, Json(chosen->name()));
  return {};
}

Result<void> admit_persistent_volume_claim(const Admission& admission) {
  if (admission.operation == Operation::Delete || !admission.subresource.empty()) return {};
  TRY(keep_claim_in_limits(admission));
  if (admission.operation != Operation::Update) return {};
  const auto size = wanted_size(admission.object), was = wanted_size(*admission.old);
  if (!size || !was || *size <= *was) return {};
  if (text_at(*admission.old, {"status", "phase"}) != "Bound")
    return refusal("Only bound persistent volume claims can be expanded");
  const std::string name = text_at(admission.object, {"spec", "storageClassName"});
  TRY_ASSIGN(const ObjectPtr of, admission.reader.get(kinds::kStorageClass, "", name));
  if (StorageClassView(of).may_expand()) return {};
  return refusal(
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
      "pvc must support resize");
}

}  // namespace krater::api
