// What a pod really requests from a node: the larger of its steady state (containers and
// restartable init containers together) and the worst moment of its init phase, plus overhead;
// pod-level requests override. Mirrors Kubernetes' PodRequests. Pure.
#pragma once

#include "model/pod.h"
#include "model/resource_list.h"

namespace krater {

// `spec` is a PodSpec (of a pod or of a template). A limit without a request counts as the request.
// `pods` is not in the result; see pod_requests.
ResourceList pod_spec_requests(const Json& spec);

// The same for a pod: amounts its containers were already allocated count where they are larger
// (in-place resize), and `pods: 1` is added.
ResourceList pod_requests(const PodView& pod);

}  // namespace krater
