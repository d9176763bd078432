// Certificate requests: conditions say when they came.
#include <algorithm>

#include "api/admission/rules.h"

namespace krater::api {

Result<void> mutate_certificate_request(Admission& admission) {
  Json* list = find(admission.object, {"status", "conditions"});
  if (admission.subresource.empty() || list == nullptr || !list->is_array()) return {};
  const JsonArray* before =
      admission.old == nullptr ? nullptr : array_at(*admission.old, {"status", "conditions"});
  for (Json& condition : list->get_array()) {
    if (!condition.is_object()) continue;
    const bool new_to_us =
        before == nullptr || std::none_of(before->begin(), before->end(), [&](const Json& one) {
          return text_at(one, {"type"}) == text_at(condition, {"type"});
        });
    for (const char* field : {"lastUpdateTime", "lastTransitionTime"}) {
      const Json* given = condition.get_object().if_contains(field);
      if (new_to_us && (given == nullptr || given->is_null()))
        condition.get_object()[field] = to_rfc3339(admission.now);
    }
  }
  return {};
}

}  // namespace krater::api
