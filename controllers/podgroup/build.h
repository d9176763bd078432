// What the PodGroup of a plain pod looks like. Pure.
#pragma once

#include <string>

#include "model/pod.h"
#include "model/podgroup.h"

namespace krater::controllers::podgroup {

// "podgroup-<uid of its controller, else its own>".
std::string group_name(const Object& pod);
// `owner`: annotations of the pod's controller; empty without one.
Json build_group(const PodView& pod, const Labels& owner, std::int64_t members,
                 const std::string& queue);
// The queue that the pod names, else its controller; "" when neither does.
std::string queue_of(const PodView& pod, const Labels& owner);
// What makes the group one of so many such pods; an empty object when it is. `queue`: "" for the
// one it is in.
Json difference(const PodGroupView& group, const PodView& pod, std::int64_t members,
                const std::string& queue);

}  // namespace krater::controllers::podgroup
