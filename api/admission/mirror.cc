// Objects that mirror a part of the control plane (model/mirror.h): their state is the server's to
// tell, and what they say is not edited, but for annotations. Deleted ones come back.
#include "model/mirror.h"

#include "api/admission/rules.h"

namespace krater::api {

namespace {

// Annotations that others put on it say nothing of the part.
bool only_noted(Json now, Json before) {
  for (Json* one : {&now, &before}) {
    for (const std::string_view key :
         {"annotations", "managedFields", "resourceVersion", "generation"})
      erase_path(*one, {"metadata", key});
    erase_path(*one, {"status"});
  }
  return now == before;
}

}  // namespace

Result<void> admit_mirror(const Admission& admission) {
  if (admission.operation != Operation::Update || admission.name_space != kMirrorNamespace ||
      admission.old == nullptr || admission.subresource == "status") {
    return {};
  }
  // Who is on his way out may lose his finalizers.
  const Json& before = *admission.old;
  if (text_at(before, {"metadata", "labels", kMirrorLabel}).empty() ||
      find(before, {"metadata", "deletionTimestamp"}) != nullptr ||
      only_noted(admission.object, before)) {
    return {};
  }
  return refusal("it mirrors a part of the control plane and is read-only");
}

}  // namespace krater::api
