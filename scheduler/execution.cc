#include "scheduler/execution.h"

namespace krater::scheduler {

void retry_later(const Execution& world, const JobKey& job) {
  const Duration pause = world.backoffs.fail(job, world.loop.now());
  world.loop.after(pause, [answered = world.answered] { answered(); });
}

}  // namespace krater::scheduler
