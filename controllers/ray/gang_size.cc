#include "controllers/ray/gang_size.h"

#include <algorithm>
#include <limits>

#include "model/pod_resources.h"

namespace krater::controllers {
namespace {

ResourceList requests_of(const Json& pod, const RuntimeClasses& classes) {
  const Json* spec = find(pod, {"spec"});
  return spec == nullptr ? ResourceList() : pod_spec_requests(with_overhead(*spec, classes));
}

}  // namespace

ResourceList template_requests(const Json& pod_template, const RuntimeClasses& classes) {
  return requests_of(pod_template, classes);
}

GangSize gang_size(const PodContext& context, const RuntimeClasses& classes) {
  GangSize out{1, requests_of(build_head_pod(context), classes)};
  const bool autoscaling = context.spec.autoscaling();
  for (const RayGroupSpec& group : context.spec.workers()) {
    if (group.suspended()) continue;
    const std::int64_t replicas =
        autoscaling ? group.min_replicas().value_or(0) : group.clamped_replicas();
    const std::int64_t pods = replicas * group.hosts();
    if (pods <= 0) continue;
    out.members += pods;
    out.resources += requests_of(build_worker_pod(context, group, {}), classes).times(pods);
  }
  out.members = std::min<std::int64_t>(out.members, std::numeric_limits<std::int32_t>::max());
  return out;
}

}  // namespace krater::controllers
