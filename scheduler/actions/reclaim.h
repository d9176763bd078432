// reclaim: queues that have less than is theirs take it back from queues that have more, for jobs
// that starve (volcano.md 3.5). Whether a queue may still take is asked anew before each job.
#pragma once

namespace krater::scheduler {

class Session;
void reclaim(Session& session);

}  // namespace krater::scheduler
