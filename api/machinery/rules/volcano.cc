// Rules of Volcano's custom resources.
#include "api/machinery/rules/rules.h"

namespace krater::api::rules {

void volcano_network_topology(const RuleInput& in, FieldErrors& errors) {
  if (find(in.value, {"highestTierAllowed"}) != nullptr &&
      !text_at(in.value, {"highestTierName"}).empty()) {
    errors.invalid(in.path, Json("object"),
                   "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
                   "simultaneously");
  }
}

void volcano_job_spec(const RuleInput& in, FieldErrors& errors) {
  if (in.old == nullptr) return;
  const std::string now = text_at(in.value, {"queue"}), was = text_at(*in.old, {"queue"});
  if (!was.empty() && now != was)
    errors.invalid(in.path.field("queue"), Json(now), "field is immutable");
}

}  // namespace krater::api::rules
