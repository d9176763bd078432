// What the PodGroup of a plain pod looks like. Pure.
#pragma once

#include <string>

#include "model/pod.h"

namespace krater::controllers::podgroup {

// "podgroup-<uid of its controller, else its own>".
std::string group_name(const Object& pod);
// `owner`: annotations of the pod's controller; empty without one.
Json build_group(const PodView& pod, const Labels& owner, std::int64_t members);
// Of a group of so many such pods.
Json min_resources(const PodView& pod, std::int64_t members);

}  // namespace krater::controllers::podgroup
