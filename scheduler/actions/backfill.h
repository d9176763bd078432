// backfill: places pods that request nothing. They use up a node's pod count and nothing else, so
// no queue's limit is asked; one that fits nowhere does not hold up the others.
#pragma once

namespace krater::scheduler {

class Session;
void backfill(Session& session);

}  // namespace krater::scheduler
