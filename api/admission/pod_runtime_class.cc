// What a pod's runtime class adds: its overhead, and the nodes that have the runtime.
#include <algorithm>

#include "api/admission/pod_steps.h"

namespace krater::api {
namespace {

const Kind kRuntimeClass{"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false};

Result<void> add_overhead(Json& pod, const Json& of) {
  const JsonObject* fixed = object_at(of, {"overhead", "podFixed"});
  const Json* given = find(pod, {"spec", "overhead"});
  if (fixed == nullptr) {
    if (given == nullptr) return {};
    return refusal(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  if (given == nullptr) {
    set_path(pod, {"spec", "overhead"}, *fixed);
  } else if (*given != Json(*fixed)) {
    return refusal("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  return {};
}

Result<void> add_scheduling(Json& pod, const Json& of) {
  if (const JsonObject* selector = object_at(of, {"scheduling", "nodeSelector"})) {
    for (const auto& entry : *selector) {
      const std::string_view key = entry.key();
      const auto own = string_at(pod, {"spec", "nodeSelector", key});
      const std::string wanted = text_at(of, {"scheduling", "nodeSelector", key});
      if (own && *own != wanted) {
        return refusal("conflict: runtimeClass.scheduling.nodeSelector[" + std::string(key) +
                       "] = " + wanted + "; pod.spec.nodeSelector[" + std::string(key) +
                       "] = " + std::string(*own));
      }
      set_path(pod, {"spec", "nodeSelector", key}, Json(wanted));
    }
  }
  const JsonArray* more = array_at(of, {"scheduling", "tolerations"});
  if (more == nullptr || more->empty()) return {};
  JsonArray tolerations;
  if (const JsonArray* given = array_at(pod, {"spec", "tolerations"})) tolerations = *given;
  for (const Json& one : *more) {
    if (std::find(tolerations.begin(), tolerations.end(), one) == tolerations.end())
      tolerations.push_back(one);
  }
  set_path(pod, {"spec", "tolerations"}, std::move(tolerations));
  return {};
}

}  // namespace

Result<void> give_runtime_class(Admission& admission) {
  Json& pod = admission.object;
  const std::string name = text_at(pod, {"spec", "runtimeClassName"});
  if (name.empty()) {
    if (find(pod, {"spec", "overhead"}) == nullptr) return {};
    return refusal(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  TRY_ASSIGN(const ObjectPtr found, admission.reader.get(kRuntimeClass, "", name));
  if (!found) return refusal("pod rejected: RuntimeClass \"" + name + "\" not found");
  const std::shared_ptr<const Json> document = found->document();
  TRY(add_overhead(pod, *document));
  return add_scheduling(pod, *document);
}

}  // namespace krater::api
