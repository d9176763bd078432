// Ingresses that name no class get the default one.
#include "api/admission/rules.h"

namespace krater::api {
namespace {

const Kind kIngressClass{"networking.k8s.io", "v1", "IngressClass", "ingressclasses", false};

}  // namespace

Result<void> mutate_ingress(Admission& admission) {
  constexpr std::string_view kDefault = "ingressclass.kubernetes.io/is-default-class";
  constexpr std::string_view kOldClass = "kubernetes.io/ingress.class";
  Json& ingress = admission.object;
  if (admission.operation != Operation::Create ||
      find(ingress, {"spec", "ingressClassName"}) != nullptr ||
      find(ingress, {"metadata", "annotations", kOldClass}) != nullptr)
    return {};
  TRY_ASSIGN(const std::vector<ObjectPtr> classes, admission.reader.list(kIngressClass, ""));
  ObjectPtr chosen;
  for (const ObjectPtr& one : classes) {
    if (ObjectView(one).annotation(kDefault) != "true") continue;
    if (!chosen || one->created() > chosen->created() ||
        (one->created() == chosen->created() && one->name() < chosen->name()))
      chosen = one;
  }
  if (chosen) set_path(ingress, {"spec", "ingressClassName"}, Json(chosen->name()));
  return {};
}

}  // namespace krater::api
