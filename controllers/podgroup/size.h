// How many members the PodGroup of a workload's pods has: what the workload's annotation says, but
// never more than the workload asks for at the moment, as the others would be waited for in vain
// (the second ReplicaSet of a rollout, a StatefulSet that makes one pod after the other). Pure.
#pragma once

#include <vector>

#include "model/object.h"

namespace krater::controllers::podgroup {

// Whether the workload says anything about it; others have groups of one.
bool names_size(const Labels& annotations);

// At this moment; `pods`: all that it controls.
std::int64_t group_size(const Object& workload, const std::vector<ObjectPtr>& pods);

// What a group of size `now` becomes. Smaller at once; larger only if nobody of it has a node yet,
// or as far as its pods have got nodes: a gang that stands is not broken by growing.
std::int64_t next_size(std::int64_t now, std::int64_t wanted, const std::vector<ObjectPtr>& pods);

}  // namespace krater::controllers::podgroup
