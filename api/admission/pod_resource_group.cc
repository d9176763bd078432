// What a new pod is given by the resource group it belongs to. As in Volcano's chart the webhook is
// not asked about pods of its own namespace and of kube-system.
#include "api/admission/pod_steps.h"
#include "api/admission/resource_groups.h"

namespace krater::api {

Result<void> enter_resource_group(Admission& admission) {
  ResourceGroupBook* book = admission.settings.resource_groups.get();
  if (book == nullptr) return {};
  const ConfigMapPlace& place = book->place();
  if (admission.name_space == place.name_space || admission.name_space == "kube-system") return {};
  TRY_ASSIGN(const ObjectPtr config_map,
             admission.reader.get(kinds::kConfigMap, place.name_space, place.name));
  const std::shared_ptr<const ResourceGroups> groups = book->read(config_map);
  if (groups == nullptr) return {};
  for (const ResourceGroup& group : *groups) {
    if (!group.holds(admission.object, admission.name_space)) continue;
    group.give(admission.object);
    break;
  }
  return {};
}

}  // namespace krater::api
