// enqueue: admits pending PodGroups (phase Pending -> Inqueue) while their minResources can be
// expected to fit. Each pending job is tried once; one that is refused does not hold up those
// behind it.
#pragma once

namespace krater::scheduler {

class Session;
void enqueue(Session& session);

}  // namespace krater::scheduler
