#include <algorithm>

#include "api/admission/pod_steps.h"

namespace krater::api {
namespace {

constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr int kTokenSeconds = 3607;  // an hour, told apart from what users ask for

Json token_volume(const std::string& name) {
  const JsonObject token{
      {"serviceAccountToken", JsonObject{{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  const JsonObject authority{
      {"configMap",
       JsonObject{{"name", "kube-root-ca.crt"},
                  {"items", JsonArray{JsonObject{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}};
  const JsonObject home{
      {"downwardAPI",
       JsonObject{{"items", JsonArray{JsonObject{
                                {"path", "namespace"},
                                {"fieldRef", JsonObject{{"apiVersion", "v1"},
                                                        {"fieldPath", "metadata.namespace"}}}}}}}}};
  return JsonObject{{"name", name},
                    {"projected", JsonObject{{"sources", JsonArray{token, authority, home}},
                                             {"defaultMode", 420}}}};
}

bool mounts_there(const Json& container) {
  const JsonArray* mounts = array_at(container, {"volumeMounts"});
  return mounts != nullptr && std::any_of(mounts->begin(), mounts->end(), [](const Json& mount) {
           return text_at(mount, {"mountPath"}) == kMountPath;
         });
}

void append(Json& root, JsonPath path, Json item) {
  JsonArray list;
  if (const JsonArray* given = array_at(root, path)) list = *given;
  list.push_back(std::move(item));
  set_path(root, path, std::move(list));
}

// Containers that bring their own mount at that place keep it; the volume exists only if somebody
// uses it.
void mount_token(Admission& admission) {
  Json& pod = admission.object;
  const std::string name = std::string(kVolumePrefix) + admission.rng.suffix(5);
  bool used = false;
  for (const std::string_view list : {"initContainers", "containers"}) {
    Json* containers = find(pod, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      if (!container.is_object() || mounts_there(container)) continue;
      append(container, {"volumeMounts"},
             JsonObject{{"name", name}, {"readOnly", true}, {"mountPath", kMountPath}});
      used = true;
    }
  }
  if (used) append(pod, {"spec", "volumes"}, token_volume(name));
}

}  // namespace

Result<void> give_service_account(Admission& admission) {
  Json& pod = admission.object;
  std::string name = text_at(pod, {"spec", "serviceAccountName"});
  if (name.empty()) name = text_at(pod, {"spec", "serviceAccount"});
  if (name.empty()) name = "default";
  set_path(pod, {"spec", "serviceAccountName"}, Json(name));
  set_path(pod, {"spec", "serviceAccount"}, Json(name));
  TRY_ASSIGN(const ObjectPtr account,
             admission.reader.get(kinds::kServiceAccount, admission.name_space, name));
  // Every namespace gets its `default` account from a controller; a pod that is a moment faster is
  // no mistake.
  if (!account && name != "default") {
    return refusal("error looking up service account " + admission.name_space + "/" + name +
                   ": serviceaccount \"" + name + "\" not found");
  }
  const ObjectView view(account);
  if (const JsonArray* secrets = array_at(view.document(), {"imagePullSecrets"})) {
    if (find(pod, {"spec", "imagePullSecrets"}) == nullptr)
      set_path(pod, {"spec", "imagePullSecrets"}, *secrets);
  }
  const bool by_account = bool_at(view.document(), {"automountServiceAccountToken"}).value_or(true);
  if (bool_at(pod, {"spec", "automountServiceAccountToken"}).value_or(by_account))
    mount_token(admission);
  return {};
}

}  // namespace krater::api
