// How large a Ray cluster's gang is: computed from the pods as they will be created. Pure.
#pragma once

#include "controllers/batchscheduler/batch_scheduler.h"
#include "controllers/ray/pod_builder.h"
#include "model/pod_overhead.h"

namespace krater::controllers {

// The head and every wanted worker (with autoscaling on: minReplicas of each group; suspended
// groups: none). The sum of what they request, as the scheduler will count it. Members saturate at
// int32.
GangSize gang_size(const PodContext& context, const RuntimeClasses& classes);
// What a pod made from this template requests.
ResourceList template_requests(const Json& pod_template, const RuntimeClasses& classes);

}  // namespace krater::controllers
