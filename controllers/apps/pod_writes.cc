#include "controllers/apps/pod_writes.h"

#include "base/name_suffix.h"
#include "base/strings.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;
constexpr std::size_t kMaxPrefix = 57;  // 63, less dash and suffix

}  // namespace

Json pod_of_template(const Json& pod_template, const Object& owner, const std::string& name) {
  Json pod = new_object(kinds::kPod, owner.name_space(), name);
  for (const std::string_view field : {"labels", "annotations", "finalizers"}) {
    if (const Json* given = find(pod_template, {"metadata", field}))
      set_path(pod, {"metadata", field}, *given);
  }
  const Json* spec = find(pod_template, {"spec"});
  set_path(pod, {"spec"}, spec == nullptr ? Json(boost::json::object_kind) : *spec);
  set_path(pod, {"metadata", "generateName"}, Json(owner.name() + "-"));
  set_path(pod, {"metadata", "ownerReferences"}, JsonArray{controller_reference(owner)});
  return pod;
}

std::string derived_pod_name(const Object& owner, std::string_view seen,
                             const std::function<bool(const std::string&)>& taken) {
  const std::string prefix = owner.name().substr(0, kMaxPrefix) + "-";
  const std::string seed = owner.uid().text() + "/" + std::string(seen) + "/";
  for (int serial = 0;; ++serial) {
    std::string name = prefix + name_suffix(fnv1a(seed + std::to_string(serial)));
    if (!taken(name)) return name;
  }
}

PlannedWrite create_app_pod(const Object& owner, Json pod) {
  const std::string name = text_at(pod, {"metadata", "name"});
  return {client::CreateWrite{kinds::kPod, owner.name_space(), std::move(pod)}, Code::AlreadyExists,
          EventNote{Type::Normal, "SuccessfulCreate", "Created pod: " + name},
          EventNote{Type::Warning, "FailedCreate", "Error creating"}};
}

PlannedWrite delete_app_pod(const AppPod& pod) {
  client::DeleteWrite write{kinds::kPod, pod.object->name_space(), pod.name()};
  write.only_uid = pod.object->uid();
  return {std::move(write), Code::NotFound,
          EventNote{Type::Normal, "SuccessfulDelete", "Deleted pod: " + pod.name()},
          EventNote{Type::Warning, "FailedDelete", "Error deleting"}};
}

}  // namespace krater::controllers
